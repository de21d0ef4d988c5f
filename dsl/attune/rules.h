// The shape rule of every op: from the types of its operands to its own type, or to what is wrong.
#pragma once
#include "attune/graph.h"

namespace attune {

// What can be wrong. A mistake of one op shows in the types of its operands; one of the whole
// graph, or of a value, is found by graph_of. The messages are in report.h.
enum class Rule : unsigned char {
  ok,
  // one op
  tensor_wanted,        // an index expression stands where a tensor belongs
  rank_wanted,          // a: wanted, b: given
  rank_at_least_two,    // b: given
  rank_of_input,        // a: given
  extent_negative,      // a: given
  zero_extent,          // a: head_dim, heads or features of 0
  count_not_positive,   // a: given
  inner_dims_differ,    // a: columns of the left, b: rows of the right
  batch_dims_differ,    // a, b: the batch sizes
  head_dims_differ,     // a, b: the head counts
  heads_do_not_divide,  // a: heads, b: features
  odd_head_dim,         // a: head_dim
  rank_full,            // a: given
  place_outside,        // a: given, b: rank
  features_outside,     // a: where they end, or begin if that is negative, b: how many there are
  mask_needs_scores,
  mask_needs_predicate,
  reduction_needs_scores,
  dims_do_not_broadcast,  // a, b: the extents
  // index expressions
  index_needs_scores,  // one meets a tensor that is not scores
  predicate_in_arithmetic,
  logic_on_number,
  modulo_of_reals,
  divisor_not_literal,
  tensor_not_comparable,  // comparison, logic or % of a tensor
  row_state_misplaced,    // score, row_max, .. outside an algebra
  algebra_leaf_misplaced,
  rotary_leaf_misplaced,  // seq_index or pair_index outside of rope
  position_leaf_misplaced,
  frequency_leaf_misplaced,
  position_not_integer,
  frequency_not_number,
  scaling_wanted,
  algebra_of_predicate,
  algebra_wanted,
  row_value_leaf_misplaced,
  row_value_of_predicate,
  table_rank,        // a: dims, b: indices given
  table_index_kind,  // an index is no integer
  table_element,
  rank_of_table,     // a: given
  table_empty,       // a: its least extent
  // the whole graph
  two_shapes,
  input_and_weight,
  output_is_argument,  // an input or a weight
  name_not_identifier,
  divisor_not_positive,  // a: given
  rotated_dims_wrong,    // a: dims, b: head_dim
  rotation_base_wrong,
  scaling_wrong,
  eps_wrong,
  look_up_outside,   // a: the dim of the table, b: an index that may arise there
  // the spec
  not_a_spec,
  result_not_tensor,
  output_not_tensor,
  output_unnamed,
  two_outputs,
  no_outputs,
};

struct Inferred {
  Rule rule = Rule::ok;
  Type type{};
  long a = 0, b = 0;
};
constexpr Inferred wrong(Rule r, long a = 0, long b = 0) { return {r, {}, a, b}; }
constexpr Inferred tensor_of(Dims d) { return {Rule::ok, {Kind::tensor, d}}; }

constexpr bool is_arithmetic(Op op) { return op >= Op::add && op <= Op::log; }

// Numpy's rule: aligned at the last dim, extents equal or 1.
constexpr Inferred broadcast(const Type& x, const Type& y) {
  const Dims &a = x.dims, &b = y.dims;
  Dims r;
  r.rank = a.rank > b.rank ? a.rank : b.rank;
  for (int i = 1; i <= r.rank; ++i) {
    const long p = i <= a.rank ? a[-i] : 1, q = i <= b.rank ? b[-i] : 1;
    if (p != q && p != 1 && q != 1) return wrong(Rule::dims_do_not_broadcast, p, q);
    r[-i] = p == 1 ? q : p;
  }
  const bool scores = (x.kind == Kind::scores && r == a) || (y.kind == Kind::scores && r == b);
  return {Rule::ok, {scores ? Kind::scores : Kind::tensor, r}};
}

constexpr Inferred infer_elementwise(Op op, const Type& x, const Type& y) {
  if (x.kind == Kind::predicate || y.kind == Kind::predicate) return wrong(Rule::predicate_in_arithmetic);
  if (op == Op::mod) return wrong(Rule::tensor_not_comparable);
  if (op == Op::tanh || op == Op::exp || op == Op::log) return {Rule::ok, x};
  const bool xi = is_index(x.kind), yi = is_index(y.kind);
  if (xi || yi) return {Rule::ok, xi ? y : x};
  return broadcast(x, y);
}

constexpr Inferred infer_matmul(const Type& x, const Type& y) {
  const Dims &a = x.dims, &b = y.dims;
  if (is_index(y.kind)) return wrong(Rule::tensor_wanted);
  if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
  if (b.rank != 4) return wrong(Rule::rank_wanted, 4, b.rank);
  if (a[3] != b[2]) return wrong(Rule::inner_dims_differ, a[3], b[2]);
  if (a[0] != b[0]) return wrong(Rule::batch_dims_differ, a[0], b[0]);
  if (a[1] != b[1]) return wrong(Rule::head_dims_differ, a[1], b[1]);
  const bool weighs = x.kind == Kind::scores;  // rows of scores weigh values, whose last dim is head_dim
  if (a[1] < 1) return wrong(Rule::zero_extent, a[1]);
  if ((weighs ? b[3] : a[3]) < 1) return wrong(Rule::zero_extent, weighs ? b[3] : a[3]);
  // The product of two tensors is a score matrix until something weighs values with it.
  return {Rule::ok, {weighs ? Kind::tensor : Kind::scores, {4, {a[0], a[1], a[2], b[3]}}}};
}

// `in` holds max_operands types; the absent ones are of rank 0. Operands are tensors or scores,
// except the second of mask and of arithmetic, and the algebra of reduce_rows and row_value.
constexpr Inferred infer(Op op, const Attr& at, const Type* in, int operands) {
  const Dims& a = in[0].dims;
  if (is_arithmetic(op)) return infer_elementwise(op, in[0], operands > 1 ? in[1] : in[0]);
  if (is_index(in[0].kind)) return wrong(op == Op::mask ? Rule::mask_needs_scores : Rule::tensor_wanted);
  switch (op) {
    case Op::linear: {
      if (a.rank < 2) return wrong(Rule::rank_at_least_two, 2, a.rank);
      if (at.count < 1) return wrong(Rule::count_not_positive, at.count);
      if (a[-1] < 1) return wrong(Rule::zero_extent, a[-1]);
      Dims d = a;
      d[-1] = at.count;
      return tensor_of(d);
    }
    case Op::split_heads:
      if (a.rank != 3) return wrong(Rule::rank_wanted, 3, a.rank);
      if (at.count < 1) return wrong(Rule::count_not_positive, at.count);
      if (a[2] < 1) return wrong(Rule::zero_extent, a[2]);
      if (a[2] % at.count) return wrong(Rule::heads_do_not_divide, at.count, a[2]);
      return tensor_of({4, {a[0], at.count, a[1], a[2] / at.count}});
    case Op::merge_heads:
      if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
      return tensor_of({3, {a[0], a[2], a[1] * a[3]}});
    case Op::repeat_heads:
      if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
      if (at.count < 1) return wrong(Rule::count_not_positive, at.count);
      return tensor_of({4, {a[0], a[1] * at.count, a[2], a[3]}});
    case Op::transpose: {
      if (a.rank < 2) return wrong(Rule::rank_at_least_two, 2, a.rank);
      Dims d = a;
      d[-1] = a[-2];
      d[-2] = a[-1];
      return tensor_of(d);
    }
    case Op::unsqueeze: {
      if (a.rank >= max_rank) return wrong(Rule::rank_full, a.rank);
      if (at.count < 0 || at.count > a.rank) return wrong(Rule::place_outside, at.count, a.rank);
      Dims d;
      d.rank = a.rank + 1;
      for (int i = 0; i < d.rank; ++i) d[i] = i == at.count ? 1 : a[i < at.count ? i : i - 1];
      return tensor_of(d);
    }
    case Op::features: {
      if (at.count < 1) return wrong(Rule::count_not_positive, at.count);
      if (at.from < 0 || at.count > a[-1] - at.from) return wrong(Rule::features_outside, at.from < 0 ? at.from : at.from + at.count, a[-1]);
      Dims d = a;
      d[-1] = at.count;
      return tensor_of(d);
    }
    case Op::rope:  // an explicit `dims` is a value: see rotated_dims_fit
      if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
      if (a[3] < 1) return wrong(Rule::zero_extent, a[3]);
      if (at.rotation.dims == 0 && a[3] % 2) return wrong(Rule::odd_head_dim, a[3]);
      if (in[1].kind != Kind::integer && in[1].kind != Kind::real) return wrong(Rule::frequency_not_number);
      if (in[2].kind != Kind::integer) return wrong(Rule::position_not_integer);
      return tensor_of(a);
    case Op::inverse_norm: {
      if (a[-1] < 1) return wrong(Rule::zero_extent, a[-1]);
      Dims d = a;
      d[-1] = 1;
      return tensor_of(d);
    }
    case Op::matmul:
      return infer_matmul(in[0], in[1]);
    case Op::mask:
      if (in[0].kind != Kind::scores) return wrong(Rule::mask_needs_scores);
      if (in[1].kind != Kind::predicate) return wrong(Rule::mask_needs_predicate);
      return {Rule::ok, in[0]};
    case Op::reduce_rows:
      if (in[0].kind != Kind::scores) return wrong(Rule::reduction_needs_scores);
      return {Rule::ok, in[0]};
    case Op::row_value:
      if (in[0].kind != Kind::scores) return wrong(Rule::reduction_needs_scores);
      return tensor_of({3, {a[0], a[1], a[2]}});
    default:
      return {Rule::ok, in[0]};
  }
}

constexpr bool rotated_dims_fit(const PairRotation& r, long head_dim) {
  return r.dims == 0 ? head_dim % 2 == 0 : r.dims > 0 && r.dims % 2 == 0 && r.dims <= head_dim;
}

}  // namespace attune
