// Attention over all keys from attention over parts of them.
#pragma once
#include "attune/reduction.h"

namespace attune {

template <class Values, class Lse>
struct merged {
  Values values;
  Lse lse;
};

// What attention over two disjoint sets of keys comes to over both: of each set its result `o`, [batch,
// heads, q, head_dim], and its log-sum-exp `lse`, [batch, heads, q]; the result has both again, so that
// parts merge one after another: auto [o, lse] = merge_by_lse(o1, lse1, o2, lse2).
//
//   o = (o1 e^(lse1 - m) + o2 e^(lse2 - m)) / (e^(lse1 - m) + e^(lse2 - m)),  m = max(lse1, lse2)
//
// A set in which a row keeps nothing has lse -inf and weighs 0. Where both have, -inf - m would be NaN, so
// m is held at the lowest finite float: then both weigh 0, the result is 0 and its lse -inf. Elsewhere the
// greater set weighs 1, so that holding the divisor at 1 from below changes nothing there.
template <operand O1, operand L1, operand O2, operand L2>
constexpr auto merge_by_lse(const O1& o1, const L1& lse1, const O2& o2, const L2& lse2, ATTUNE_HERE) {
  auto m = max(max(lse1, lse2), -0x1.fffffep127);
  auto w1 = exp(lse1 - m, here);
  auto w2 = exp(lse2 - m, here);
  auto sum = w1 + w2;
  auto values = (unsqueeze<-1>(w1, here) * o1 + unsqueeze<-1>(w2, here) * o2) / unsqueeze<-1>(max(sum, 1.0), here);
  auto lse = m + log(sum, here);
  return merged<decltype(values), decltype(lse)>{values, lse};
}

}  // namespace attune
