// Attention over the last tokens: how many, another header says.
#pragma once
#include <attune.h>
#include "nearby_tokens.h"

template <long Seq>
constexpr auto nearby = [] {
  using namespace attune;
  auto q = input<1, 2, Seq, 8>("q");
  auto v = input<1, 2, Seq, 8>("v");
  return matmul(softmax(mask(matmul(q, transpose(v)), kv_index <= q_index && q_index - kv_index < tokens)), v);
};
