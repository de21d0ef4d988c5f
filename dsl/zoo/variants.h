// What people change about causal attention, each alone, on 8 heads of 64: so that `attune bench variant`
// shows what it costs beside the plain one, variant_causal.
#pragma once
#include <zoo/textbook.h>

namespace zoo {

// weights(q k^T / 8) v; q, k, v [1, 8, seq, 64].
template <long Seq, class F>
constexpr auto variant_of(F weights) {
  auto q = input<1, 8, Seq, 64>("q");
  auto k = input<1, 8, Seq, 64>("k");
  return matmul(weights(matmul(q, transpose(k)) / sqrt_of<64>), input<1, 8, Seq, 64>("v"));
}
inline constexpr auto behind = q_index - kv_index;

template <long Seq>
constexpr auto variant_causal = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s, causal)); }); };
// Masks that hang on places alone.
template <long Seq, long Window>
constexpr auto variant_window = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s, causal && behind < Window)); }); };
template <long Seq, long First, long Window>  // StreamingLLM (arXiv:2309.17453)
constexpr auto variant_first_and_window = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s, causal && (kv_index < First || behind < Window))); }); };
template <long Seq, long Chunk>
constexpr auto variant_chunked = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s, causal && q_index / Chunk == kv_index / Chunk)); }); };
template <long Seq, long Prefix>
constexpr auto variant_prefix = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s, causal || kv_index < Prefix)); }); };
// Masks by tables that are known at run time.
template <long Seq>
constexpr auto variant_documents = [] {
  constexpr auto ids = table<int32, Seq>("ids");
  return variant_of<Seq>([=](auto s) { return softmax(mask(s, causal && ids(q_index) == ids(kv_index))); });
};
template <long Seq>
constexpr auto variant_allowed = [] {
  constexpr auto allowed = table<int32, Seq, Seq>("allowed");
  return variant_of<Seq>([=](auto s) { return softmax(mask(s, causal && allowed(q_index, kv_index) != 0)); });
};
// Scores.
template <long Seq>
constexpr auto variant_alibi = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s - exp(-0.6931471805599453 * (head_index + 1)) * behind, causal)); }); };
template <long Seq>
constexpr auto variant_slopes = [] {
  constexpr auto slopes = table<float32, 8>("slopes");
  return variant_of<Seq>([=](auto s) { return softmax(mask(s - slopes(head_index) * behind, causal)); });
};
template <long Seq>
constexpr auto variant_bias = [] { return variant_of<Seq>([](auto s) { return softmax(mask(s + input<1, 1, Seq, Seq>("bias"), causal)); }); };
template <long Seq>
constexpr auto variant_softcap = [] { return variant_of<Seq>([](auto s) { return softmax(mask(30 * tanh(s / 30), causal)); }); };

}  // namespace zoo
