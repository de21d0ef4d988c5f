// One broken rule, one compile error, in the grammar "op(args): what is wrong; how to mend it".
// Both compilers print the compared numbers, and the user's line stands in the trace.
// The return type is deduced so that GCC instantiates the body at once, while the user's call is
// still on its stack; a function, not a class, leaves the caller valid, so that Clang does not
// complain a second time.
#pragma once
#include <algorithm>
#include "attune/rules.h"

namespace attune {

template <Rule R, long A, long B>
constexpr auto report() {
  if constexpr (R == Rule::tensor_wanted) static_assert(A != B, "op(x): an index expression stands where a tensor belongs; put a predicate on scores with mask(s, keep)");
  if constexpr (R == Rule::rank_wanted) static_assert(A == B, "op(x): x has another rank than this op takes (left: wanted, right: given); split_heads<H>(x) makes rank 4 of 3, merge_heads(x) rank 3 of 4");
  if constexpr (R == Rule::rank_at_least_two) static_assert(A <= B, "op(x): x needs at least two dims; declare the input with a batch or sequence dim");
  if constexpr (R == Rule::inner_dims_differ) static_assert(A == B, "matmul(a, b): columns of a and rows of b differ; is a transpose() missing?");
  if constexpr (R == Rule::batch_dims_differ) static_assert(A == B, "matmul(a, b): batch or head counts differ; is a repeat_heads<>() missing?");
  if constexpr (R == Rule::heads_do_not_divide) static_assert(B % A == 0, "split_heads<heads>(x): the heads do not divide the features; choose heads that do");
  if constexpr (R == Rule::count_not_positive) static_assert(A > 0, "op<count>(x): the count must be positive");
  if constexpr (R == Rule::odd_head_dim) static_assert(A % 2 == 0, "rope(x): head_dim is odd, but RoPE rotates pairs; pass {.dims = an even number} to rotate the first dims only");
  if constexpr (R == Rule::rotated_dims_wrong) static_assert(A <= B, "rope(x): head_dim is less than one pair");
  if constexpr (R == Rule::mask_needs_scores) static_assert(A != B, "mask(s, keep): s is no score matrix; mask the result of matmul(q, transpose(k))");
  if constexpr (R == Rule::mask_needs_predicate) static_assert(A != B, "mask(s, keep): keep is no predicate; compare indices, as in kv_index <= q_index");
  if constexpr (R == Rule::reduction_needs_scores) static_assert(A != B, "row_reduction(s, ..): s is no score matrix; reduce the result of matmul(q, transpose(k))");
  if constexpr (R == Rule::dims_do_not_broadcast) static_assert(A == B, "elementwise(a, b): the extents are neither equal nor 1; give both the same shape");
  if constexpr (R == Rule::index_needs_scores) static_assert(A != B, "elementwise(x, e): an index expression meets a tensor that is no score matrix; add it to the result of matmul(q, transpose(k))");
  if constexpr (R == Rule::predicate_in_arithmetic) static_assert(A != B, "elementwise(x, e): a predicate is no number; put it on scores with mask(s, keep)");
  if constexpr (R == Rule::extent_negative) static_assert(A >= 0, "input<dims...>(name): an extent is negative; sizes count from 0");
  if constexpr (R == Rule::zero_extent) static_assert(A > 0, "op(x): heads or features are 0; only batch and seq_len may be");
}

}  // namespace attune
