// Row reductions, declared by their algebra. Over one row of scores s_j a reduction carries
//   row_max = max_j s_j           (if the weight mentions it)
//   row_sum = sum_j weight_j
// and yields p_j = weight(s_j, row_max) * scale(row_sum, row_max). A streaming kernel may raise
// row_max while it goes, since the author states how weights already summed follow:
//   weight(s, row_max) = weight(s, old_max) * rescale(old_max, row_max).
// The verifier checks that identity, and that a removed pair (score -inf) weighs 0. A row that
// keeps no pair is 0. What a row has carried at its end can be a result too: see row_value.
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
template <class T>
inline constexpr bool is_algebra = false;
template <class W, class R, class S>
inline constexpr bool is_algebra<row_algebra<W, R, S>> = true;

// What is known of a row once all its scores are in.
inline constexpr Leaves leaves_of_row = leaf(Op::row_sum) | leaf(Op::row_max) | leaf(Op::batch_index) | leaf(Op::head_index) | leaf(Op::q_index);

template <operand W, operand R, operand S>
constexpr Rule algebra_rule() {
  for (Kind k : {type_of<W>().kind, type_of<R>().kind, type_of<S>().kind})
    if (k != Kind::real && k != Kind::integer) return Rule::algebra_of_predicate;
  const bool known = !(leaves<W> & ~(leaf(Op::score) | leaf(Op::row_max))) &&
                     !(leaves<R> & ~(leaf(Op::old_max) | leaf(Op::row_max))) &&
                     !(leaves<S> & ~leaves_of_row);
  return known ? Rule::ok : Rule::algebra_leaf_misplaced;
}

// `weight` of score and row_max; `rescale` of old_max and row_max, 1 where the weight knows no
// row_max; `scale` of row_sum, row_max and where the row is (batch_index, head_index, q_index).
template <operand W, operand R, operand S>
constexpr auto algebra(const W& weight, const R& rescale, const S& scale) {
  if constexpr (is_poison<W> || is_poison<R> || is_poison<S>) {
    return poison{};
  } else if constexpr (constexpr Rule rule = algebra_rule<W, R, S>(); rule != Rule::ok) {
    report<rule, Op::reduce_rows>();
    return poison{};
  } else {
    return row_algebra<lifted<W>, lifted<R>, lifted<S>>{lift(weight), lift(rescale), lift(scale)};
  }
}

// p_j of every row of scores, by the algebra `a`.
template <operand X, class A>
constexpr auto row_reduction(const X& s, const A& a, ATTUNE_HERE) {
  if constexpr (is_algebra<A>) {
    return make<Op::reduce_rows>({}, here.line, s, a.weight, a.rescale, a.scale);
  } else {
    if constexpr (!is_poison<X> && !is_poison<A>) report<Rule::algebra_wanted, Op::reduce_rows, 0, 0, A>();
    return poison{};
  }
}

// exp(s_j) / sum exp(s_j), shifted by the maximum so that nothing overflows.
inline constexpr auto softmax_algebra = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / row_sum);
template <operand X>
constexpr auto softmax(const X& s, ATTUNE_HERE) { return row_reduction(s, softmax_algebra, here); }

// A number for each row of scores, [batch, heads, q, kv] -> [batch, heads, q]: `value`, of what the
// reduction by `a` has carried at its end (row_sum, row_max) and of where the row is. Beside a product
// of the same reduction with values it costs next to nothing, since the row's state is there. A row
// that keeps no pair has the value to which its own falls as all its scores fall to -inf.
template <operand X, class A, operand V>
constexpr auto row_value(const X& s, const A& a, const V& value, ATTUNE_HERE) {
  if constexpr (is_poison<X> || is_poison<A> || is_poison<V>) {
    return poison{};
  } else if constexpr (!is_algebra<A>) {
    report<Rule::algebra_wanted, Op::row_value, 0, 0, A>();
    return poison{};
  } else if constexpr (type_of<V>().kind != Kind::real && type_of<V>().kind != Kind::integer) {
    report<Rule::row_value_of_predicate, Op::row_value, 0, 0, V>();
    return poison{};
  } else if constexpr ((leaves<V> & ~leaves_of_row) != 0) {
    report<Rule::row_value_leaf_misplaced, Op::row_value, 0, 0, V>();
    return poison{};
  } else {
    return make<Op::row_value>({}, here.line, s, a.weight, a.rescale, value);
  }
}

// log sum_j exp(s_j) of every row: the natural logarithm of what softmax divides by; -inf for a row
// that keeps no pair.
template <operand X>
constexpr auto logsumexp(const X& s, ATTUNE_HERE) { return row_value(s, softmax_algebra, row_max + log(row_sum), here); }

}  // namespace attune
