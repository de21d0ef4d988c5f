// One broken rule, one compile error, in the grammar "op(args): what is wrong; how to mend it".
// Both compilers print the compared numbers, and the user's line stands in the trace.
// The return type is deduced so that GCC instantiates the body at once, while the user's call is
// still on its stack; a function, not a class, leaves the caller valid, so that Clang does not
// complain a second time.
#pragma once
#include "attune/rules.h"

namespace attune {

// What an op returns after its error was reported; whatever takes it returns it again, silently.
struct poison {
  static constexpr Type type{Kind::tensor, {max_rank, {1, 1, 1, 1}}};  // for those who read its dims
  template <class... I>
  constexpr poison operator()(const I&...) const { return {}; }  // for those who took it for a table
};
template <class T>
inline constexpr bool is_poison = false;
template <>
inline constexpr bool is_poison<poison> = true;

// The same complaint of several ops, each by its own name.
#define ATTUNE_OF(op, call, condition, text) \
  if constexpr (O == Op::op) static_assert(condition, call ": " text)
#define ATTUNE_OF_REDUCTIONS(condition, text)                                   \
  ATTUNE_OF(reduce_rows, "softmax(s) or row_reduction(s, a)", condition, text); \
  ATTUNE_OF(row_value, "logsumexp(s) or row_value(s, a, value)", condition, text)
#define ATTUNE_OF_TENSOR_OPS(condition, text)                         \
  ATTUNE_OF(linear, "linear<out>(x, weight)", condition, text);       \
  ATTUNE_OF(split_heads, "split_heads<heads>(x)", condition, text);   \
  ATTUNE_OF(merge_heads, "merge_heads(x)", condition, text);          \
  ATTUNE_OF(repeat_heads, "repeat_heads<times>(x)", condition, text); \
  ATTUNE_OF(transpose, "transpose(x)", condition, text);              \
  ATTUNE_OF(unsqueeze, "unsqueeze<at>(x)", condition, text);          \
  ATTUNE_OF(features, "features<from, count>(x)", condition, text);   \
  ATTUNE_OF(rope, "rope(x)", condition, text);                        \
  ATTUNE_OF(inverse_norm, "rms_norm(x, weight) or l2_norm(x)", condition, text); \
  ATTUNE_OF(matmul, "matmul(a, b)", condition, text);                 \
  ATTUNE_OF(mask, "mask(s, keep)", condition, text);                  \
  ATTUNE_OF_REDUCTIONS(condition, text)
#define ATTUNE_OF_OPERATORS(condition, text)          \
  ATTUNE_OF(add, "a + b", condition, text);           \
  ATTUNE_OF(sub, "a - b", condition, text);           \
  ATTUNE_OF(mul, "a * b", condition, text);           \
  ATTUNE_OF(div, "a / b", condition, text);           \
  ATTUNE_OF(mod, "a % b", condition, text);           \
  ATTUNE_OF(min, "min(a, b)", condition, text);       \
  ATTUNE_OF(max, "max(a, b)", condition, text);       \
  ATTUNE_OF(tanh, "tanh(a)", condition, text);        \
  ATTUNE_OF(exp, "exp(a)", condition, text);          \
  ATTUNE_OF(log, "log(a)", condition, text);         \
  ATTUNE_OF(lt, "a < b or a > b", condition, text);   \
  ATTUNE_OF(le, "a <= b or a >= b", condition, text); \
  ATTUNE_OF(eq, "a == b or a != b", condition, text); \
  ATTUNE_OF(both, "a && b", condition, text);         \
  ATTUNE_OF(either, "a || b", condition, text);       \
  ATTUNE_OF(negation, "!a", condition, text)

// Of one op: what is wrong shows in types. A and B as the rule's comment in rules.h says; Of makes
// a call that would depend on no template parameter depend on one, so that it waits for its turn.
template <Rule R, Op O, long A = 0, long B = 0, class... Of>
constexpr auto report() {
  constexpr bool ok = R == Rule::ok;
  if constexpr (R == Rule::tensor_wanted) {
    ATTUNE_OF_TENSOR_OPS(ok, "an index expression stands where a tensor belongs; put a predicate on scores with mask(s, keep), add a number to them with s + e");
  }
  if constexpr (R == Rule::rank_wanted) {
    ATTUNE_OF_TENSOR_OPS(A == B, "the operand has another rank than this takes (left: wanted, right: given); split_heads<H>(x) makes rank 4 of 3, merge_heads(x) rank 3 of 4");
  }
  if constexpr (R == Rule::rank_at_least_two) {
    ATTUNE_OF_TENSOR_OPS(A <= B, "x needs at least two dims; declare the input with a batch or sequence dim");
  }
  if constexpr (R == Rule::rank_of_input) static_assert(A >= 1 && A <= max_rank, "input<dims...>(name): a tensor has one to four dims; merge some of them");
  if constexpr (R == Rule::extent_negative) static_assert(A >= 0, "input<dims...>(name): an extent is negative; sizes count from 0");
  if constexpr (R == Rule::zero_extent) {
    ATTUNE_OF_TENSOR_OPS(A > 0, "heads, head_dim or features are 0; only batch and seq_len may be");
  }
  if constexpr (R == Rule::count_not_positive) {
    ATTUNE_OF_TENSOR_OPS(A > 0, "the count in <> is not positive; give 1 or more");
  }
  if constexpr (R == Rule::inner_dims_differ) static_assert(A == B, "matmul(a, b): columns of a and rows of b differ; is a transpose() missing?");
  if constexpr (R == Rule::batch_dims_differ) static_assert(A == B, "matmul(a, b): batch sizes differ; give both operands the same batch");
  if constexpr (R == Rule::head_dims_differ) static_assert(A == B, "matmul(a, b): head counts differ; is a repeat_heads<times>() missing?");
  if constexpr (R == Rule::heads_do_not_divide) static_assert(B % A == 0, "split_heads<heads>(x): the heads do not divide the features; choose heads that do");
  if constexpr (R == Rule::odd_head_dim) static_assert(A % 2 == 0, "rope(x): head_dim is odd, but RoPE rotates pairs; pass {.dims = an even number} to rotate the first dims only");
  if constexpr (R == Rule::rank_full) static_assert(A < max_rank, "unsqueeze<at>(x): x has four dims already, as many as a tensor may have; merge some of them");
  if constexpr (R == Rule::place_outside) static_assert(A >= 0 && A <= B, "unsqueeze<at>(x): the new dim would stand outside of the result (left: its place, right: the last one there is); the last is also -1");
  if constexpr (R == Rule::features_outside) static_assert(A >= 0 && A <= B, "features<from, count>(x): x has not so many features (left: where these end or begin, right: how many there are); they count from 0");
  if constexpr (R == Rule::mask_needs_scores) static_assert(ok, "mask(s, keep): s is no score matrix; mask the result of matmul(q, transpose(k))");
  if constexpr (R == Rule::mask_needs_predicate) static_assert(ok, "mask(s, keep): keep is no predicate; compare indices, as in kv_index <= q_index");
  if constexpr (R == Rule::reduction_needs_scores) {
    ATTUNE_OF_REDUCTIONS(ok, "s is no score matrix; reduce the result of matmul(q, transpose(k))");
  }
  if constexpr (R == Rule::dims_do_not_broadcast) {
    ATTUNE_OF_OPERATORS(A == B, "the extents are neither equal nor 1; give both the same shape");
  }
  if constexpr (R == Rule::index_needs_scores) {
    ATTUNE_OF_OPERATORS(ok, "an index expression meets a tensor that is no score matrix; use it on the result of matmul(q, transpose(k))");
  }
  if constexpr (R == Rule::predicate_in_arithmetic) {
    ATTUNE_OF_OPERATORS(ok, "a predicate is no number; combine predicates with &&, || and !, put one on scores with mask(s, keep)");
  }
  if constexpr (R == Rule::logic_on_number) {
    ATTUNE_OF_OPERATORS(ok, "an operand is a number; compare it first, as in kv_index <= q_index");
  }
  if constexpr (R == Rule::modulo_of_reals) static_assert(ok, "a % b: one of them is real; % takes integers, so drop the decimal point");
  if constexpr (R == Rule::divisor_not_literal) {
    ATTUNE_OF_OPERATORS(ok, "the divisor of integers is no literal; divide by a positive number, or write 1.0 * a for a real quotient");
  }
  if constexpr (R == Rule::tensor_not_comparable) {
    ATTUNE_OF_OPERATORS(ok, "an operand is a tensor; only index expressions are compared, as in kv_index <= q_index");
  }
  if constexpr (R == Rule::row_state_misplaced) {
    ATTUNE_OF_OPERATORS(ok, "score, row_max, old_max and row_sum are known inside algebra(..) only; elsewhere use the scores themselves");
    ATTUNE_OF_TENSOR_OPS(ok, "score, row_max, old_max and row_sum are known inside algebra(..) only; elsewhere use the scores themselves");
  }
  if constexpr (R == Rule::rotary_leaf_misplaced) {
    ATTUNE_OF_OPERATORS(ok, "seq_index and pair_index are known inside rope(..) only; a score has q_index and kv_index");
    ATTUNE_OF_TENSOR_OPS(ok, "seq_index and pair_index are known inside rope(..) only; a score has q_index and kv_index");
  }
  if constexpr (R == Rule::position_leaf_misplaced) static_assert(ok, "rope(x, how, position): position uses what it can not know; it takes seq_index, batch_index, pair_index and tables read by them");
  if constexpr (R == Rule::frequency_leaf_misplaced) static_assert(ok, "rope(x, how, scaling): the scaling's frequency uses what it can not know; it takes pair_index and no table");
  if constexpr (R == Rule::position_not_integer) static_assert(ok, "rope(x, how, position): position is no integer; build it of seq_index, batch_index, pair_index, whole numbers and tables of int32");
  if constexpr (R == Rule::frequency_not_number) static_assert(ok, "rope(x, how, scaling): the scaling's frequency is no number; build it of pair_index by arithmetic");
  if constexpr (R == Rule::scaling_wanted) static_assert(ok, "rope(x, how, s): s is neither a scaling nor a position; take a scaling of rotary.h, or an integer index expression of seq_index");
  if constexpr (R == Rule::algebra_leaf_misplaced) static_assert(ok, "algebra(weight, rescale, scale): one of them uses what it can not know; weight takes score and row_max, rescale old_max and row_max, scale row_sum, row_max and the row's batch_index, head_index and q_index");
  if constexpr (R == Rule::algebra_of_predicate) static_assert(ok, "algebra(weight, rescale, scale): one of them is no number; build it of score, row_max, old_max and row_sum by arithmetic");
  if constexpr (R == Rule::algebra_wanted) {
    ATTUNE_OF(reduce_rows, "row_reduction(s, a)", ok, "a is no algebra; make it by algebra(weight, rescale, scale)");
    ATTUNE_OF(row_value, "row_value(s, a, value)", ok, "a is no algebra; make it by algebra(weight, rescale, scale)");
  }
  if constexpr (R == Rule::row_value_leaf_misplaced) static_assert(ok, "row_value(s, a, value): value uses what a row can not know; it takes row_sum, row_max and the row's batch_index, head_index and q_index");
  if constexpr (R == Rule::row_value_of_predicate) static_assert(ok, "row_value(s, a, value): value is no number; build it of row_sum and row_max by arithmetic, as in row_max + log(row_sum)");
  if constexpr (R == Rule::table_rank) static_assert(A == B, "t(indices..): a table takes an index for each of its dims (left: dims, right: given)");
  if constexpr (R == Rule::table_index_kind) static_assert(ok, "t(indices..): an index is no integer; build it of batch_index, head_index, q_index, kv_index and whole numbers");
  if constexpr (R == Rule::table_element) static_assert(ok, "table<element, dims..>(name): there are tables of int32 and of float32; take one of them");
  if constexpr (R == Rule::rank_of_table) static_assert(A >= 1 && A <= max_rank, "table<element, dims..>(name) or learned<dims..>(name): a table has one to four dims; merge some of them");
  if constexpr (R == Rule::table_empty) static_assert(A > 0, "table<element, dims..>(name) or learned<dims..>(name): an extent is less than 1; a table holds something");
}

// Of a spec as a whole, from its type.
template <Rule R, class... Of>
constexpr auto report_spec() {
  constexpr bool ok = R == Rule::ok;
  if constexpr (R == Rule::not_a_spec) static_assert(ok, "graph_of(spec): spec can not be called without arguments; pass the lambda itself, and let its inputs be input<..>(name)");
  if constexpr (R == Rule::result_not_tensor) static_assert(ok, "graph_of(spec): the spec returns no tensor; return one, or several by outputs(\"y\"_out = y, ..)");
  if constexpr (R == Rule::output_not_tensor) static_assert(ok, "outputs(..): an output is no tensor; an index expression becomes one by s + e or mask(s, e)");
  if constexpr (R == Rule::output_unnamed) static_assert(ok, "outputs(..): an output has no name; write outputs(\"y\"_out = y, ..)");
  if constexpr (R == Rule::two_outputs) static_assert(ok, "outputs(..): two outputs have one name; rename one");
  if constexpr (R == Rule::no_outputs) static_assert(ok, "outputs(..): there is none; name at least one, as in outputs(\"y\"_out = y)");
}

// Of a spec as a whole, from its graph: the lines of the two uses, the numbers, the name.
template <Rule R, int Line, int Other, long A, long B, char... Name>
constexpr auto report_fault() {
  if constexpr (R == Rule::two_shapes) static_assert(Line > Other, "graph_of(spec): one name is used for two shapes, on these two lines; give each tensor a name of its own");
  if constexpr (R == Rule::input_and_weight) static_assert(Line > Other, "graph_of(spec): one name is used for an input and for a weight, on these two lines; rename one");
  if constexpr (R == Rule::output_is_argument) static_assert(Line > Other, "graph_of(spec): an output has the name of an input or a weight, on these two lines; rename one (a single output is named out)");
  if constexpr (R == Rule::name_not_identifier) static_assert(Line > Other, "graph_of(spec): a name, on this line, is no C identifier, but generated code uses it as one; take letters, digits and _");
  if constexpr (R == Rule::divisor_not_positive) static_assert(A > 0, "a / b or a % b: the divisor of integers is not positive; divide by 1 or more");
  if constexpr (R == Rule::rotated_dims_wrong) static_assert(A % 2 == 0 && A >= 2 && A <= B, "rope(x, {.dims = r}): r is not even and from 2 to head_dim; choose one that is (without .dims, r is head_dim)");
  if constexpr (R == Rule::rotation_base_wrong) static_assert(Line > Other, "rope(x, {.base = b}), on this line: b is not positive and finite; the usual base is 10000");
  if constexpr (R == Rule::eps_wrong) static_assert(Line > Other, "rms_norm(x, weight, eps) or l2_norm(x, eps), on this line: eps is negative or not finite; take that of the model's config.json");
  if constexpr (R == Rule::scaling_wrong) static_assert(Line > Other, "rope(x, how, scaling), on this line: a factor or a length of the scaling is out of range; take those of the model's config.json");
  if constexpr (R == Rule::look_up_outside) static_assert(Line > Other, "t(indices..), used on this line: an index can leave the table (A: which of its dims, B: to where); make the table larger, or hold the index back by min and max");
}

#undef ATTUNE_OF
#undef ATTUNE_OF_TENSOR_OPS
#undef ATTUNE_OF_REDUCTIONS
#undef ATTUNE_OF_OPERATORS

}  // namespace attune
