// Row reductions, declared by their algebra. Over one row of scores s_j a reduction carries
//   row_max = max_j s_j           (if the weight mentions it)
//   row_sum = sum_j weight_j
// and yields p_j = weight(s_j, row_max) * scale(row_sum, row_max). A streaming kernel may raise
// row_max while it goes, since the author states how weights already summed follow:
//   weight(s, row_max) = weight(s, old_max) * rescale(old_max, row_max).
// The verifier checks that identity, and that a removed pair (score -inf) weighs 0. A row that
// keeps no pair is 0.
#pragma once
#include "attune/ops.h"

namespace attune {

inline constexpr apply<Op::score, Kind::real> score{};
inline constexpr apply<Op::row_max, Kind::real> row_max{};
inline constexpr apply<Op::old_max, Kind::real> old_max{};
inline constexpr apply<Op::row_sum, Kind::real> row_sum{};

template <class Weight, class Rescale, class Scale>
struct row_algebra {
  Weight weight;
  Rescale rescale;
  Scale scale;
};

// `weight` of score and row_max; `rescale` of old_max and row_max, 1 where the weight knows no
// row_max; `scale` of row_sum and row_max.
template <index_operand W, index_operand R, index_operand S>
constexpr auto algebra(W weight, R rescale, S scale) {
  return row_algebra<decltype(lift(weight)), decltype(lift(rescale)), decltype(lift(scale))>{lift(weight), lift(rescale), lift(scale)};
}

template <operand X, class W, class R, class S>
constexpr auto row_reduction(const X& s, const row_algebra<W, R, S>& a, ATTUNE_HERE) { return make<Op::reduce_rows>({}, line, s, a.weight, a.rescale, a.scale); }

// exp(s_j) / sum exp(s_j), shifted by the maximum so that nothing overflows.
inline constexpr auto softmax_algebra = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / row_sum);
template <operand X> constexpr auto softmax(const X& s, ATTUNE_HERE) { return row_reduction(s, softmax_algebra, line); }

#undef ATTUNE_HERE

}  // namespace attune
