// The ops of the language. Shapes are compile-time; every broken rule is one error at the user's line.
#pragma once
#include "attune/tensor.h"

namespace attune {

#define ATTUNE_HERE int line = __builtin_LINE()

// A run-time argument of shape [D...], dense and row-major.
template <long... D>
constexpr auto input(std::string_view name, ATTUNE_HERE) {
  static_assert(sizeof...(D) >= 1 && sizeof...(D) <= std::size_t(max_rank), "input<dims...>(name): a tensor has one to four dims");
  if constexpr (constexpr long least = std::min({D...}); least < 0) {
    report<Rule::extent_negative, least, 0>();
    return poison{};
  } else {
    return tensor<D...>{ref(Op::input, tensor<D...>::type, {.name = name}, line)};
  }
}

// y = x W^T (+ b), as torch.nn.Linear: x [.., in], weight [Out, in], bias [Out] -> [.., Out].
template <long Out, operand X>
constexpr auto linear(const X& x, std::string_view weight, ATTUNE_HERE) {
  if constexpr (node<X> && X::type.dims.rank >= 1)
    return make<Op::linear, Out>({}, line, x, tensor<Out, X::type.dims[-1]>{ref(Op::weight, {Kind::tensor, {2, {Out, X::type.dims[-1]}}}, {.name = weight}, line)});
  else return make<Op::linear, Out>({}, line, x);
}
template <long Out, operand X>
constexpr auto linear(const X& x, std::string_view weight, std::string_view bias, ATTUNE_HERE) {
  if constexpr (node<X> && X::type.dims.rank >= 1)
    return make<Op::linear, Out>({}, line, x, tensor<Out, X::type.dims[-1]>{ref(Op::weight, {Kind::tensor, {2, {Out, X::type.dims[-1]}}}, {.name = weight}, line)},
                                 tensor<Out>{ref(Op::weight, {Kind::tensor, {1, {Out}}}, {.name = bias}, line)});
  else return make<Op::linear, Out>({}, line, x);
}

// [batch, seq, heads * head_dim] -> [batch, heads, seq, head_dim], and back.
template <long Heads, operand X> constexpr auto split_heads(const X& x, ATTUNE_HERE) { return make<Op::split_heads, Heads>({}, line, x); }
template <operand X> constexpr auto merge_heads(const X& x, ATTUNE_HERE) { return make<Op::merge_heads>({}, line, x); }

// [batch, heads, ..] -> [batch, heads * Times, ..]: head h reads head h / Times (grouped-query attention).
template <long Times, operand X> constexpr auto repeat_heads(const X& x, ATTUNE_HERE) { return make<Op::repeat_heads, Times>({}, line, x); }

template <operand X> constexpr auto transpose(const X& x, ATTUNE_HERE) { return make<Op::transpose>({}, line, x); }

inline constexpr Pairs interleaved = Pairs::interleaved;
inline constexpr Pairs half_split = Pairs::half_split;

// Rotary position embedding of x [batch, heads, seq, head_dim]; see Rotation for the formula.
// What `how` asks for is a value, so it is checked where the whole graph is, by graph_of.
template <operand X> constexpr auto rope(const X& x, ATTUNE_HERE) { return make<Op::rope>({}, line, x); }
template <operand X> constexpr auto rope(const X& x, Rotation how, ATTUNE_HERE) { return make<Op::rope, 0, 2>({.rotation = how}, line, x); }

// a [batch, heads, m, k], b [batch, heads, k, n] -> [batch, heads, m, n]. The product of two
// tensors is a score matrix; the product of scores and a tensor is a tensor.
template <operand A, operand B> constexpr auto matmul(const A& a, const B& b, ATTUNE_HERE) { return make<Op::matmul>({}, line, a, b); }

// Scores where keep holds, -inf elsewhere.
template <operand S, operand E> constexpr auto mask(const S& s, const E& keep, ATTUNE_HERE) { return make<Op::mask>({}, line, s, keep); }

// sqrt(N) in constant evaluation, for the scale of the scores.
template <long N>
inline constexpr double sqrt_of = [] {
  static_assert(N >= 0, "sqrt_of<N>: N is negative");
  double r = N < 1 ? 1 : double(N);
  for (double p = r + 1; r < p;) {
    p = r;
    r = (r + double(N) / r) / 2;
  }
  return N > 0 ? r : 0.0;
}();

template <Op O, operand A, operand B>
constexpr auto elementwise(const A& a, const B& b, int line) {
  if constexpr (index_misplaced<A, B>()) {
    report<Rule::index_needs_scores, long(sizeof(A)) * 0, 0>();
    return poison{};
  } else {
    return make<O>({}, line, a, b);
  }
}

#define ATTUNE_BINARY(sym, op)                                   \
  template <operand A, operand B>                                \
    requires(node<A> || node<B>)                                 \
  constexpr auto operator sym(const A& a, const B& b) { return elementwise<op>(a, b, 0); }
ATTUNE_BINARY(+, Op::add)
ATTUNE_BINARY(-, Op::sub)
ATTUNE_BINARY(*, Op::mul)
ATTUNE_BINARY(/, Op::div)
#undef ATTUNE_BINARY
template <node X> constexpr auto operator-(const X& x) { return x * -1.0; }

template <node X> constexpr auto tanh(const X& x, ATTUNE_HERE) { return make<Op::tanh>({}, line, x); }
template <node X> constexpr auto exp(const X& x, ATTUNE_HERE) { return make<Op::exp>({}, line, x); }
template <operand A, operand B> requires(node<A> || node<B>)
constexpr auto min(const A& a, const B& b) { return elementwise<Op::min>(a, b, 0); }
template <operand A, operand B> requires(node<A> || node<B>)
constexpr auto max(const A& a, const B& b) { return elementwise<Op::max>(a, b, 0); }
template <node A> constexpr auto min(const A& a, const A& b) { return elementwise<Op::min>(a, b, 0); }  // outranks std::min
template <node A> constexpr auto max(const A& a, const A& b) { return elementwise<Op::max>(a, b, 0); }

}  // namespace attune
