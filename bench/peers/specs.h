// What the comparison with other libraries needs beyond the zoo.
#pragma once
#include <attune.h>

namespace peers {
using namespace attune;

// Causal attention of the last `Window` tokens, this one included; q, k, v [1, heads, seq, head_dim].
template <long Heads, long Seq, long HeadDim, long Window>
constexpr auto sliding_window = [] {
  auto q = input<1, Heads, Seq, HeadDim>("q");
  auto k = input<1, Heads, Seq, HeadDim>("k");
  auto v = input<1, Heads, Seq, HeadDim>("v");
  auto s = matmul(q, transpose(k)) / sqrt_of<HeadDim>;
  return matmul(softmax(mask(s, kv_index <= q_index && q_index - kv_index < Window)), v);
};

// One projection, x [1, seq, in] to [1, seq, out].
template <long Seq, long In, long Out>
constexpr auto projection = [] { return linear<Out>(input<1, Seq, In>("x"), "w"); };

}  // namespace peers
