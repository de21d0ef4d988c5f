#include "variants/list.h"

#include <cstdlib>

namespace variants {

namespace {

template <long B, long Q, long KV, class E>
Variant masked(const std::string& name, E keep_expression, numerics::Keep keep) {
  const auto spec_of = [&]<long Queries, long Keys>(const std::string& n) { return numerics::spec(n, [keep_expression] { return attention<B, Queries, Keys>([keep_expression](auto s) { return softmax(mask(s, keep_expression)); }); }); };
  constexpr long q = Q ? Q : long_length, kv = KV ? KV : long_length;
  return {spec_of.template operator() < Q ? Q : short_length, KV ? KV : short_length > (name), spec_of.template operator()<q, kv>(name), std::move(keep), q, kv};
}

#define ATTUNE_VARIANT(name) \
  Variant { numerics::spec(#name, name<short_length>), numerics::spec(#name, name<long_length>) }

}  // namespace

std::vector<Variant> masks() {
  const auto in_window = [](long i, long j) { return j <= i && i - j < 7; };
  const auto two_sided = [](long i, long j) { return std::labs(i - j) <= 5; };
  std::vector<Variant> r;
  r.push_back(masked<1, 0, 0>("causal", causal, [](long, long, long i, long j) { return j <= i; }));
  r.push_back(masked<1, 7, 18>("causal_to_the_end", causal_to_the_end<7, 18>, [](long, long, long i, long j) { return j <= i + 11; }));
  r.push_back(masked<1, 0, 0>("sliding_window", sliding_window, [=](long, long, long i, long j) { return in_window(i, j); }));
  r.push_back(masked<1, 0, 0>("two_sided_window", two_sided_window, [=](long, long, long i, long j) { return two_sided(i, j); }));
  r.push_back(masked<1, 0, 0>("dilated_window", dilated_window, [](long, long, long i, long j) { return j <= i && (i - j) % 3 == 0 && i - j < 15; }));
  r.push_back(masked<1, 0, 0>("chunked", chunked, [](long, long, long i, long j) { return j <= i && i / 8 == j / 8; }));
  r.push_back(masked<1, 0, 0>("block_local", block_local, [](long, long, long i, long j) { return i / 8 == j / 8; }));
  r.push_back(masked<1, 0, 0>("block_and_neighbours", block_and_neighbours, [](long, long, long i, long j) { return std::labs(i / 4 - j / 4) <= 1; }));
  r.push_back(masked<1, 0, 0>("prefix_lm", prefix_lm, [](long, long, long i, long j) { return j <= i || j < 6; }));
  r.push_back(masked<1, 0, 0>("global_tokens", global_tokens, [=](long, long, long i, long j) { return i < 2 || j < 2 || two_sided(i, j); }));
  r.push_back(masked<1, 0, 0>("strided", strided, [](long, long, long i, long j) { return j <= i && (i - j < 4 || (i - j) % 4 == 0); }));
  r.push_back(masked<1, 0, 0>("fixed_stride", fixed_stride, [](long, long, long i, long j) { return j <= i && (i / 4 == j / 4 || j % 4 == 3); }));
  r.push_back(masked<1, 0, 0>("a_shaped", a_shaped, [](long, long, long i, long j) { return j <= i && (j < 3 || i - j < 5); }));
  r.push_back(masked<1, 0, 0>("neighbourhood_1d", neighbourhood_1d, [](long, long, long i, long j) { return std::labs(i - j) <= 2; }));
  r.push_back(masked<1, 0, 0>("neighbourhood_2d", neighbourhood_2d, [](long, long, long i, long j) { return std::labs(i / 6 - j / 6) <= 1 && std::labs(i % 6 - j % 6) <= 1; }));
  r.push_back(masked<1, 0, 0>("neighbourhood_3d", neighbourhood_3d, [](long, long, long i, long j) { return std::labs(i / 9 - j / 9) <= 1 && std::labs(i / 3 % 3 - j / 3 % 3) <= 1 && std::labs(i % 3 - j % 3) <= 1; }));
  r.push_back(masked<2, 0, 0>("padded_by_constants", padded_by_constants, [](long b, long, long, long j) { return j < 11 + 3 * b; }));
  r.push_back(masked<1, 0, 0>("local_head", local_head, [=](long, long h, long i, long j) { return h < 1 || in_window(i, j); }));
  return r;
}

std::vector<Variant> others() {
  return {
      ATTUNE_VARIANT(bias_of_pairs),
      ATTUNE_VARIANT(bias_of_keys),
      ATTUNE_VARIANT(bias_of_queries),
      ATTUNE_VARIANT(alibi),
      ATTUNE_VARIANT(alibi_of_three_heads),
      ATTUNE_VARIANT(alibi_two_sided),
      ATTUNE_VARIANT(softcap),
      ATTUNE_VARIANT(softcap_then_bias),
      ATTUNE_VARIANT(bias_then_softcap),
      ATTUNE_VARIANT(negative_scale),
      ATTUNE_VARIANT(scale_of_head),
      ATTUNE_VARIANT(scale_at_run_time),
      ATTUNE_VARIANT(clipped),
      ATTUNE_VARIANT(temperature_by_input), ATTUNE_VARIANT(temperature_of_chunk), ATTUNE_VARIANT(log_n_scaling),
      ATTUNE_VARIANT(key_padding),
      ATTUNE_VARIANT(documents),
      ATTUNE_VARIANT(document_offsets),
      ATTUNE_VARIANT(tree_of_drafts),
      ATTUNE_VARIANT(boolean_mask),
      ATTUNE_VARIANT(alibi_by_table),
      ATTUNE_VARIANT(relative_bias),
      ATTUNE_VARIANT(bucketed_bias),
      ATTUNE_VARIANT(bucketed_bias_behind),
      ATTUNE_VARIANT(grid_bias),
      ATTUNE_VARIANT(learned_of_places),
      ATTUNE_VARIANT(learned_sink),
      ATTUNE_VARIANT(softmax_one),
      ATTUNE_VARIANT(sigmoid),
      ATTUNE_VARIANT(relu),
      ATTUNE_VARIANT(squared_relu),
      ATTUNE_VARIANT(own_reduction),
      ATTUNE_VARIANT(log_sum_exp),
      ATTUNE_VARIANT(log_sum_exp_with_sink),
      ATTUNE_VARIANT(merged_halves),
      ATTUNE_VARIANT(dropout),
      ATTUNE_VARIANT(decayed_weights),
      ATTUNE_VARIANT(differential_dropout),
      {numerics::spec("grouped", grouped<short_length, 4, 2>), numerics::spec("grouped", grouped<long_length, 4, 2>)},
      {numerics::spec("multi_query", grouped<short_length, 3, 1>), numerics::spec("multi_query", grouped<long_length, 3, 1>)},
      ATTUNE_VARIANT(cross_attention),
      ATTUNE_VARIANT(output_gate),
      ATTUNE_VARIANT(parallel_mlp),
      ATTUNE_VARIANT(two_layers),
      ATTUNE_VARIANT(differential),
      ATTUNE_VARIANT(latent),
      ATTUNE_VARIANT(latent_in_parts),
      ATTUNE_VARIANT(latent_expanded),
      ATTUNE_VARIANT(qk_norm),
      ATTUNE_VARIANT(norm_of_all_heads),
      ATTUNE_VARIANT(cosine_scores),
      ATTUNE_VARIANT(partial_rotary),
      ATTUNE_VARIANT(rope_linear),
      ATTUNE_VARIANT(rope_ntk),
      ATTUNE_VARIANT(rope_dynamic_ntk),
      ATTUNE_VARIANT(rope_yarn),
      ATTUNE_VARIANT(rope_yarn_untruncated),
      ATTUNE_VARIANT(rope_llama3),
      ATTUNE_VARIANT(rope_longrope),
      ATTUNE_VARIANT(rope_positions),
      ATTUNE_VARIANT(rope_sections),
      ATTUNE_VARIANT(rope_interleaved_sections),
      ATTUNE_VARIANT(rope_grid),
  };
}

#undef ATTUNE_VARIANT

}  // namespace variants
