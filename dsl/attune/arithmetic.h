// Operators, on index expressions and elementwise on tensors. Arithmetic takes both; comparison,
// logic and % take index expressions only.
#pragma once
#include "attune/tensor.h"

namespace attune {

template <class T>
concept expression = node<T> || index_expression<T>;

// Operators have no room for a default argument, so their line is that of their later operand.
template <operand T>
constexpr int line_of(const T& t) {
  if constexpr (node<T>)
    return t.r.get() ? t.r.get()->line : 0;
  else
    return 0;
}

template <Op O, operand A, operand B>
constexpr auto binary(const A& a, const B& b) {
  if constexpr (is_poison<A> || is_poison<B>) {
    return poison{};
  } else if constexpr (!node<A> && !node<B>) {
    return index_binary<O>(a, b);
  } else if constexpr (!is_arithmetic(O)) {
    report<Rule::tensor_not_comparable, O>();
    return poison{};
  } else if constexpr ((index_expression<A> || index_expression<B>)&&type_of<A>().kind != Kind::scores && type_of<B>().kind != Kind::scores) {
    report<Rule::index_needs_scores, O>();  // only scores have coordinates
    return poison{};
  } else {
    return make<O>({}, line_of(a) > line_of(b) ? line_of(a) : line_of(b), a, b);
  }
}

template <Op O, expression A>
constexpr auto unary(const A& a, int line) {
  if constexpr (is_poison<A>) {
    return poison{};
  } else if constexpr (!node<A>) {
    return index_unary<O>(a);
  } else if constexpr (!is_arithmetic(O)) {
    report<Rule::tensor_not_comparable, O>();
    return poison{};
  } else {
    return make<O>({}, line, a);
  }
}

#define ATTUNE_BINARY(name, expr) \
  template <operand A, operand B> \
  requires(expression<A> || expression<B>) constexpr auto name(const A& a, const B& b) { return expr; }
ATTUNE_BINARY(operator+, binary<Op::add>(a, b))
ATTUNE_BINARY(operator-, binary<Op::sub>(a, b))
ATTUNE_BINARY(operator*, binary<Op::mul>(a, b))
ATTUNE_BINARY(operator/, binary<Op::div>(a, b))
ATTUNE_BINARY(operator%, binary<Op::mod>(a, b))
ATTUNE_BINARY(operator<, binary<Op::lt>(a, b))
ATTUNE_BINARY(operator<=, binary<Op::le>(a, b))
ATTUNE_BINARY(operator>, binary<Op::lt>(b, a))
ATTUNE_BINARY(operator>=, binary<Op::le>(b, a))
ATTUNE_BINARY(operator==, binary<Op::eq>(a, b))
ATTUNE_BINARY(operator!=, !binary<Op::eq>(a, b))
ATTUNE_BINARY(operator&&, binary<Op::both>(a, b))
ATTUNE_BINARY(operator||, binary<Op::either>(a, b))
ATTUNE_BINARY(min, binary<Op::min>(a, b))
ATTUNE_BINARY(max, binary<Op::max>(a, b))
#undef ATTUNE_BINARY
template <expression A>
constexpr auto min(const A& a, const A& b) { return binary<Op::min>(a, b); }  // outranks std::min
template <expression A>
constexpr auto max(const A& a, const A& b) { return binary<Op::max>(a, b); }

template <expression A>
constexpr auto operator!(const A& a) { return unary<Op::negation>(a, 0); }
template <expression A>
constexpr auto operator-(const A& a) {
  if constexpr (node<A>)
    return binary<Op::mul>(a, -1.0);
  else
    return binary<Op::sub>(0, a);
}

#define ATTUNE_ASSIGN(sym)     \
  template <node A, operand B> \
  constexpr A& operator sym##=(A& a, const B& b) { return a = a sym b; }
ATTUNE_ASSIGN(+)
ATTUNE_ASSIGN(-)
ATTUNE_ASSIGN(*)
ATTUNE_ASSIGN(/)
#undef ATTUNE_ASSIGN

// exp, log and tanh are real; min and max of index expressions are integer when both operands are.
template <expression A>
constexpr auto exp(const A& a, ATTUNE_HERE) { return unary<Op::exp>(a, here.line); }
template <expression A>
constexpr auto log(const A& a, ATTUNE_HERE) { return unary<Op::log>(a, here.line); }
template <expression A>
constexpr auto tanh(const A& a, ATTUNE_HERE) { return unary<Op::tanh>(a, here.line); }

}  // namespace attune
