// A user's own spec: bidirectional attention with a window of eight keys to the left.
#pragma once
#include <attune.h>

template <long Seq>
constexpr auto my_attention = [] {
  using namespace attune;
  auto q = input<1, 2, Seq, 16>("q");
  auto k = input<1, 2, Seq, 16>("k");
  auto v = input<1, 2, Seq, 16>("v");
  auto s = matmul(q, transpose(k)) / sqrt_of<16>;
  return matmul(softmax(mask(s, q_index - kv_index < 8)), v);
};
