// Attention variants as their users write them, two heads of 4 unless they are about sizes. T is the
// length of the sequence. make_torch_data.py says the same of each in PyTorch.
#pragma once
#include <array>

#include "variants/masks.h"

namespace variants {

// weigh(scores) v, of inputs q, k and v.
template <long B, long Q, long KV, class F>
constexpr auto attention(F weigh) {
  auto q = input<B, 2, Q, 4>("q");
  auto k = input<B, 2, KV, 4>("k");
  auto v = input<B, 2, KV, 4>("v");
  return matmul(weigh(matmul(q, transpose(k)) / sqrt_of<4>), v);
}

// ---- scores -----------------------------------------------------------------------------------------

// Biases of any broadcast of [batch, heads, queries, keys] are inputs like others.
template <long T>
constexpr auto bias_of_pairs = [] { return attention<1, T, T>([](auto s) { return softmax(s + input<1, 1, T, T>("bias")); }); };
template <long T>
constexpr auto bias_of_keys = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s + input<1, 2, 1, T>("bias"), causal)); }); };
template <long T>
constexpr auto bias_of_queries = [] { return attention<1, T, T>([](auto s) { return softmax(s * input<1, 1, T, 1>("factor") + input<1, 2, T, T>("bias")); }); };

// ALiBi (arXiv:2108.12409): slopes 2^(-8 h / heads) of heads 1, 2, .. where their number is a power of two.
template <long T>
constexpr auto alibi = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s - exp(-4 * 0.6931471805599453 * (head_index + 1)) * behind, causal)); }); };
// Else those of the next lower power of two, then every second of the next higher. Here 2 + 1 heads.
template <long T>
constexpr auto alibi_of_three_heads = [] {
  constexpr auto exponent = 4 * (head_index + 1) - 10 * (head_index / 2);  // 4, 8, 2
  auto s = matmul(input<1, 3, T, 4>("q"), transpose(input<1, 3, T, 4>("k"))) / sqrt_of<4>;
  return matmul(softmax(mask(s - exp(-0.6931471805599453 * exponent) * behind, causal)), input<1, 3, T, 4>("v"));
};
template <long T>  // in both directions, and without a mask
constexpr auto alibi_two_sided = [] { return attention<1, T, T>([](auto s) { return softmax(s - 0.25 * distance(q_index, kv_index)); }); };
template <long T>
constexpr auto softcap = [] { return attention<1, T, T>([](auto s) { return softmax(mask(2 * tanh(s / 2), causal)); }); };
template <long T>
constexpr auto softcap_then_bias = [] { return attention<1, T, T>([](auto s) { return softmax(2 * tanh(s / 2) + input<1, 1, T, T>("bias")); }); };
template <long T>
constexpr auto bias_then_softcap = [] { return attention<1, T, T>([](auto s) { return softmax(2 * tanh((s + input<1, 1, T, T>("bias")) / 2)); }); };
template <long T>
constexpr auto negative_scale = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * -1.5, causal)); }); };
template <long T>
constexpr auto scale_of_head = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * input<1, 2, 1, 1>("scale"), causal)); }); };
template <long T>
constexpr auto scale_at_run_time = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * input<1>("scale"), causal)); }); };
template <long T>
constexpr auto clipped = [] { return attention<1, T, T>([](auto s) { return softmax(mask(min(max(s, -0.5), 0.75), causal)); }); };
template <long T>
constexpr auto temperature_by_input = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * input<T, 1>("temperature"), causal)); }); };
template <long T>  // Llama 4, where 8192 stands for 4
constexpr auto temperature_of_chunk = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * (1.0 + 0.1 * log(1.0 + q_index / 4)), causal)); }); };
template <long T>  // Qwen: scores grow as the logarithm of the position beyond the trained length, here 5
constexpr auto log_n_scaling = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s * max(1.0, log(1.0 + q_index) / 1.6094379124341003), causal)); }); };

// ---- tables that are known at run time --------------------------------------------------------------

inline constexpr auto lengths = table<int32, 2>("lengths");
template <long T>
constexpr auto document = table<int32, 2, T>("document");
template <long T>
constexpr auto parent_of = table<int32, T, T>("is_ancestor");  // a tree of drafts: which token descends from which
template <long T>
constexpr auto kept = table<int32, 2, 1, T, T>("kept");
template <long T>
constexpr auto first_key = table<int32, T>("first_key");  // where each query's document begins
inline constexpr auto slopes = table<float32, 2>("slopes");
template <long T>
constexpr auto relative = table<float32, 2, 2 * T - 1>("relative");

template <long T>
constexpr auto key_padding = [] { return attention<2, T, T>([](auto s) { return softmax(mask(s, kv_index < lengths(batch_index))); }); };
template <long T>
constexpr auto documents = [] { return attention<2, T, T>([](auto s) { return softmax(mask(s, causal && document<T>(batch_index, q_index) == document<T>(batch_index, kv_index))); }); };
template <long T>
constexpr auto document_offsets = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s, causal && first_key<T>(q_index) <= kv_index)); }); };
template <long T>
constexpr auto tree_of_drafts = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s, kv_index == q_index || parent_of<T>(q_index, kv_index) > 1)); }); };
template <long T>
constexpr auto boolean_mask = [] { return attention<2, T, T>([](auto s) { return softmax(mask(s, kept<T>(batch_index, 0, q_index, kv_index) != 0 || kv_index < 1)); }); };
template <long T>
constexpr auto alibi_by_table = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s - slopes(head_index) * behind, causal)); }); };
template <long T>
constexpr auto relative_bias = [] { return attention<1, T, T>([](auto s) { return softmax(s + relative<T>(head_index, kv_index - q_index + (T - 1))); }); };

// ---- learned tables -----------------------------------------------------------------------------------

template <long T>  // T5's encoder and decoder: by buckets of the distance
constexpr auto bucketed_bias = [] { return attention<1, T, T>([](auto s) { return softmax(s + learned<8, 2>("relative_attention_bias")(bucket_to_both_sides<8, 16>, head_index)); }); };
template <long T>
constexpr auto bucketed_bias_behind = [] { return attention<1, T, T>([](auto s) { return softmax(mask(s + learned<8, 2>("relative_attention_bias")(bucket_behind<8, 16>, head_index), causal)); }); };
template <long T>  // Swin: by how far apart patches of a grid 6 wide are, down and across
constexpr auto grid_bias = [] {
  constexpr long down = 2 * ((T + 5) / 6) - 1, across = 2 * 6 - 1;
  constexpr auto index = (q_index / 6 - kv_index / 6 + down / 2) * across + (q_index % 6 - kv_index % 6 + across / 2);
  return attention<1, T, T>([=](auto s) { return softmax(s + learned<down * across, 2>("relative_position_bias_table")(index, head_index)); });
};
template <long T>  // of absolute places, and of fewer queries than keys
constexpr auto learned_of_places = [] { return attention<2, 7, T>([](auto s) {
  auto placed = s + learned<4, 3>("of_places")(min(kv_index / 5 + batch_index, 3), q_index % 3);
  return softmax(mask(placed, learned<6>("kept")(kv_index % 6) > 0.0 || kv_index < 1));
}); };

// ---- row reductions ---------------------------------------------------------------------------------

inline constexpr auto softmax_one_algebra = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(0.0 - row_max)));
inline constexpr auto sigmoid_algebra = algebra(1.0 / (1.0 + exp(-score)), 1.0, 1.0);
inline constexpr auto sinks = learned<2>("sinks");  // gpt-oss: a learned score that takes weight and has no value
inline constexpr auto sink_algebra = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(sinks(head_index) - row_max)));
template <long T>  // by the number of keys
constexpr auto relu_algebra = algebra(max(score, 0.0) / double(T), 1.0, 1.0);
template <long T>
constexpr auto squared_relu_algebra = algebra(max(score, 0.0) * max(score, 0.0) / double(T), 1.0, 1.0);
// One that is in no paper: weights (1 + s^2) of their sum. The compiler knows nothing of it.
inline constexpr auto rational_algebra = algebra(1.0 / (1.0 + exp(-score)) + 0.25, 1.0, 1.0 / (row_sum + 0.5));

template <long T>
constexpr auto softmax_one = [] { return attention<1, T, T>([](auto s) { return row_reduction(mask(s, causal), softmax_one_algebra); }); };
template <long T>
constexpr auto learned_sink = [] { return attention<1, T, T>([](auto s) { return row_reduction(mask(s, sliding_window), sink_algebra); }); };
template <long T>  // with the bias of arXiv:2409.04431, -log of the length
constexpr auto sigmoid = [] { return attention<1, T, T>([](auto s) { return row_reduction(mask(s - 2.5, causal), sigmoid_algebra); }); };
template <long T>
constexpr auto relu = [] { return attention<1, T, T>([](auto s) { return row_reduction(mask(s, causal), relu_algebra<T>); }); };
template <long T>
constexpr auto squared_relu = [] { return attention<1, T, T>([](auto s) { return row_reduction(mask(s, causal), squared_relu_algebra<T>); }); };
// -inf in a weight that does not vanish there is no removed pair, so this one takes no mask.
template <long T>
constexpr auto own_reduction = [] { return attention<1, T, T>([](auto s) { return row_reduction(s, rational_algebra); }); };

// ---- what a row's reduction has carried -------------------------------------------------------------

template <long T, class F>
constexpr auto of_scores(F results) {
  auto q = input<1, 2, T, 4>("q");
  auto k = input<1, 2, T, 4>("k");
  auto v = input<1, 2, T, 4>("v");
  return results(matmul(q, transpose(k)) / sqrt_of<4>, v);
}
template <long T>
constexpr auto log_sum_exp = [] {
  return of_scores<T>([](auto s, auto v) {
    auto kept = mask(s, causal);
    return outputs("y"_out = matmul(softmax(kept), v), "lse"_out = logsumexp(kept));
  });
};
template <long T>
constexpr auto log_sum_exp_with_sink = [] {
  return of_scores<T>([](auto s, auto v) {
    auto kept = mask(s, sliding_window);
    return outputs("y"_out = matmul(row_reduction(kept, sink_algebra), v), "lse"_out = row_value(kept, sink_algebra, row_max + log(row_sum + exp(sinks(head_index) - row_max))));
  });
};
// Two halves of the keys, each attended to for itself; half of the rows keep nothing of the second.
template <long T>
constexpr auto merged_halves = [] {
  return of_scores<T>([](auto s, auto v) {
    auto a = mask(s, causal && kv_index < T / 2), b = mask(s, causal && kv_index >= T / 2);
    auto [y, lse] = merge_by_lse(matmul(softmax(a), v), logsumexp(a), matmul(softmax(b), v), logsumexp(b));
    return outputs("y"_out = y, "lse"_out = lse);
  });
};

// ---- weights that the sum has taken -----------------------------------------------------------------

template <long T>  // what dropout keeps, as the caller drew it
constexpr auto dropout = [] {
  return of_scores<T>([](auto s, auto v) { return matmul(softmax(mask(s, causal)) * input<1, 2, T, T>("kept") / 0.9, v); });
};
template <long T>
constexpr auto decayed_weights = [] {
  return of_scores<T>([](auto s, auto v) { return matmul(exp(-0.2 * behind) * softmax(mask(s, causal)) * relative<T>(head_index, kv_index - q_index + (T - 1)), v); });
};
template <long T>  // both softmaxes thinned out alike
constexpr auto differential_dropout = [] {
  auto lambda = input<1, 2, 1, 1>("lambda");
  auto p = [](auto q, auto k) { return softmax(mask(matmul(input<1, 2, T, 4>(q), transpose(input<1, 2, T, 4>(k))) / sqrt_of<4>, causal)); };
  return matmul((p("q1", "k1") - lambda * p("q2", "k2")) * input<T, T>("kept"), input<1, 2, T, 8>("v"));
};

// ---- structure --------------------------------------------------------------------------------------

template <long T, long H, long KvH>
constexpr auto grouped = [] {
  auto q = input<1, H, T, 4>("q");
  auto k = repeat_heads<H / KvH>(input<1, KvH, T, 4>("k"));
  auto v = repeat_heads<H / KvH>(input<1, KvH, T, 4>("v"));
  return matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<4>, causal)), v);
};
// Queries of one sequence, keys and values of another, a bias at every projection, wider values.
template <long T>
constexpr auto cross_attention = [] {
  auto x = input<1, T, 8>("x");
  auto memory = input<1, T + 5, 6>("memory");
  auto q = split_heads<2>(linear<8>(x, "wq", "bq"));
  auto k = split_heads<2>(linear<8>(memory, "wk", "bk"));
  auto v = split_heads<2>(linear<12>(memory, "wv", "bv"));
  return linear<8>(merge_heads(matmul(softmax(matmul(q, transpose(k)) / sqrt_of<4>), v)), "wo", "bo");
};
inline constexpr auto sigmoid_of = [](auto x) { return 1.0 / (1.0 + exp(-x)); };
// q, k and v of x by weights of the names in `w`, and what comes out of two heads of 4.
template <class X>
constexpr auto self_attention(X x, std::array<std::string_view, 4> w) {
  auto q = split_heads<2>(linear<8>(x, w[0]));
  auto k = split_heads<2>(linear<8>(x, w[1]));
  auto v = split_heads<2>(linear<8>(x, w[2]));
  return merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<4>, causal)), v));
}
template <long T>
constexpr auto output_gate = [] {  // Qwen3-Next
  auto x = input<1, T, 8>("x");
  return linear<8>(self_attention(x, {"wq", "wk", "wv"}) * sigmoid_of(linear<8>(x, "wg")), "wo");
};
template <long T>
constexpr auto parallel_mlp = [] {  // GPT-J, PaLM: attention and MLP read the same x, whose projections become one
  auto x = input<1, T, 8>("x");
  auto up = linear<16>(x, "wu", "bu");
  auto gelu = 0.5 * up * (1.0 + tanh(0.7978845608028654 * (up + 0.044715 * up * up * up)));
  return x + linear<8>(self_attention(x, {"wq", "wk", "wv"}), "wo") + linear<8>(gelu, "wd");
};
template <long T>
constexpr auto two_layers = [] {
  auto x = input<1, T, 8>("x");
  auto y = x + linear<8>(self_attention(x, {"q0", "k0", "v0"}), "o0");
  return y + linear<8>(self_attention(y, {"q1", "k1", "v1"}), "o1");
};
template <long T>
constexpr auto differential = [] {  // arXiv:2410.05258: a difference of two softmaxes, lambda by head
  auto lambda = input<1, 2, 1, 1>("lambda");
  auto p = [](auto q, auto k) { return softmax(mask(matmul(input<1, 2, T, 4>(q), transpose(input<1, 2, T, 4>(k))) / sqrt_of<4>, causal)); };
  return matmul(p("q1", "k1") - lambda * p("q2", "k2"), input<1, 2, T, 8>("v"));
};
template <long T>
constexpr auto qk_norm = [] {  // Qwen3: RMSNorm of each head's features, then RoPE
  auto x = input<1, T, 8>("x");
  auto q = rope(rms_norm(split_heads<2>(linear<8>(x, "wq")), "q_norm", 1e-5), {.pairs = half_split});
  auto k = rope(rms_norm(split_heads<2>(linear<8>(x, "wk")), "k_norm", 1e-5), {.pairs = half_split});
  auto v = split_heads<2>(linear<8>(x, "wv"));
  return linear<8>(merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<4>, causal)), v)), "wo");
};
template <long T>
constexpr auto norm_of_all_heads = [] {  // OLMo 2: before the heads are split
  auto x = input<1, T, 8>("x");
  auto q = split_heads<2>(rms_norm(linear<8>(x, "wq"), "q_norm", 1e-5));
  auto k = split_heads<2>(rms_norm(linear<8>(x, "wk"), "k_norm", 1e-5));
  auto v = split_heads<2>(linear<8>(x, "wv"));
  return merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<4>, causal)), v));
};
template <long T>
constexpr auto cosine_scores = [] {  // Swin v2: cosines, times a factor of each head
  auto q = input<1, 2, T, 4>("q");
  auto k = input<1, 2, T, 4>("k");
  return matmul(softmax(matmul(l2_norm(q), transpose(l2_norm(k))) * input<1, 2, 1, 1>("scale")), input<1, 2, T, 4>("v"));
};
// Absorbed multi-head latent attention (DeepSeek-V2): all heads read one latent key of 6 + 2 features,
// whose first 6 are the values.
template <long T>
constexpr auto latent = [] {
  auto q = input<1, 4, T, 8>("q");
  auto c = repeat_heads<4>(input<1, 1, T, 8>("latent"));
  return matmul(softmax(mask(matmul(q, transpose(c)) / sqrt_of<6>, causal)), features<0, 6>(c));
};
// The same, its scores in two parts, each scaled.
template <long T>
constexpr auto latent_in_parts = [] {
  auto q = input<1, 4, T, 8>("q");
  auto c = repeat_heads<4>(input<1, 1, T, 8>("latent"));
  auto by_latent = matmul(features<0, 6>(q), transpose(features<0, 6>(c))) / sqrt_of<6>;
  auto by_place = matmul(features<6, 2>(q), transpose(features<6, 2>(c))) / sqrt_of<6>;
  return matmul(softmax(mask(by_latent + by_place, causal)), features<0, 6>(c));
};
// Rotary pairs (i, i + dims / 2) of the first 4 of 6 features, from position 3 on, base 500.
template <long T>
constexpr auto partial_rotary = [] {
  constexpr Rotation how{.base = 500, .pairs = half_split, .dims = 4, .offset = 3};
  auto x = input<1, T, 12>("x");
  auto q = rope(split_heads<2>(linear<12>(x, "wq")), how);
  auto k = rope(split_heads<2>(linear<12>(x, "wk")), how);
  auto v = split_heads<2>(linear<12>(x, "wv"));
  return linear<12>(merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<6>, causal)), v)), "wo");
};

}  // namespace variants
