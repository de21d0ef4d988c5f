// The shape rule of every op: from the types of its operands to its own type, or to what is wrong.
#pragma once
#include "attune/graph.h"

namespace attune {

enum class Rule : unsigned char {
  ok,
  tensor_wanted,            // an index expression stands where a tensor belongs
  rank_wanted,              // a: wanted, b: given
  rank_at_least_two,        // b: given
  inner_dims_differ,        // a: columns of the left, b: rows of the right
  batch_dims_differ,        // matmul: batch or heads
  heads_do_not_divide,      // a: heads, b: features
  count_not_positive,       // a: given
  odd_head_dim,             // a: head_dim
  rotated_dims_wrong,       // a: dims, b: head_dim
  mask_needs_scores,
  mask_needs_predicate,
  reduction_needs_scores,
  dims_do_not_broadcast,    // a, b: the extents
  index_needs_scores,       // an index expression meets a tensor that is not scores
  predicate_in_arithmetic,
  extent_negative,          // a: given
  zero_extent,              // a: head_dim, heads or features of 0
};

struct Inferred {
  Rule rule = Rule::ok;
  Type type{};
  long a = 0, b = 0;
};
constexpr Inferred wrong(Rule r, long a = 0, long b = 0) { return {r, {}, a, b}; }
constexpr Inferred tensor_of(Dims d) { return {Rule::ok, {Kind::tensor, d}}; }

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
  if (op == Op::tanh || op == Op::exp) return {Rule::ok, x};
  const bool xi = is_index(x.kind), yi = is_index(y.kind);
  if (xi || yi) return {Rule::ok, xi ? y : x};
  return broadcast(x, y);
}

// `in` holds max_operands types; the absent ones are of rank 0. Operands are tensors or scores,
// except the second of mask and of arithmetic.
constexpr Inferred infer(Op op, const Attr& at, const Type* in, int operands) {
  const Dims& a = in[0].dims;
  if (op >= Op::add && op <= Op::exp) return infer_elementwise(op, in[0], operands > 1 ? in[1] : in[0]);
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
    case Op::rope: {
      if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
      if (at.rotation.dims == 0 && a[3] % 2) return wrong(Rule::odd_head_dim, a[3]);
      if (at.rotation.dims < 0 || at.rotation.dims > a[3] || at.rotation.dims % 2) return wrong(Rule::rotated_dims_wrong, at.rotation.dims, a[3]);
      return tensor_of(a);
    }
    case Op::matmul: {
      const Dims& b = in[1].dims;
      if (is_index(in[1].kind)) return wrong(Rule::tensor_wanted);
      if (a.rank != 4) return wrong(Rule::rank_wanted, 4, a.rank);
      if (b.rank != 4) return wrong(Rule::rank_wanted, 4, b.rank);
      if (a[3] != b[2]) return wrong(Rule::inner_dims_differ, a[3], b[2]);
      if (in[0].kind != Kind::scores && (a[1] < 1 || a[3] < 1)) return wrong(Rule::zero_extent, a[1] < 1 ? a[1] : a[3]);
      if (a[0] != b[0]) return wrong(Rule::batch_dims_differ, a[0], b[0]);
      if (a[1] != b[1]) return wrong(Rule::batch_dims_differ, a[1], b[1]);
      // The product of two tensors is a score matrix until something weighs values with it.
      return {Rule::ok, {in[0].kind == Kind::scores ? Kind::tensor : Kind::scores, {4, {a[0], a[1], a[2], b[3]}}}};
    }
    case Op::mask:
      if (in[0].kind != Kind::scores) return wrong(Rule::mask_needs_scores);
      if (in[1].kind != Kind::predicate) return wrong(Rule::mask_needs_predicate);
      return {Rule::ok, in[0]};
    case Op::reduce_rows:
      if (in[0].kind != Kind::scores) return wrong(Rule::reduction_needs_scores);
      return {Rule::ok, in[0]};
    default: return {Rule::ok, in[0]};
  }
}

}  // namespace attune
