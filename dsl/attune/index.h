// Index expressions: functions of the coordinates (batch, head, q, kv) of one score, and of the
// state of one row. They are expression templates over their operands, so a literal needs no
// suffix and a predicate can be a named constant:
//
//   constexpr auto window = kv_index <= q_index && q_index - kv_index < 1024;
//
// `/` and `%` of integers floor; their divisor is a positive constant. An expression with a
// floating literal in it is real: there `/` divides and `%` is an error.
#pragma once
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <concepts>
#include <type_traits>
#include "attune/declare.h"

namespace attune {

namespace hana = boost::hana;

template <Op O, Kind K, class Operands = hana::tuple<>>
struct apply {
  static constexpr Op op = O;
  static constexpr Kind kind = K;
  Operands operands{};
};

template <Kind K>
struct literal {
  static constexpr Kind kind = K;
  std::conditional_t<K == Kind::real, double, long> value;
};

template <class T> struct is_index_expression : std::false_type {};
template <Op O, Kind K, class P> struct is_index_expression<apply<O, K, P>> : std::true_type {};
template <Kind K> struct is_index_expression<literal<K>> : std::true_type {};
template <class T> concept index_expression = is_index_expression<std::remove_cvref_t<T>>::value;
template <class T> concept arithmetic = std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T> concept index_operand = index_expression<T> || arithmetic<T>;

// Coordinates of a score, each counted from 0.
inline constexpr apply<Op::batch_index, Kind::integer> batch_index{};
inline constexpr apply<Op::head_index, Kind::integer> head_index{};
inline constexpr apply<Op::q_index, Kind::integer> q_index{};
inline constexpr apply<Op::kv_index, Kind::integer> kv_index{};

// What is wrong with an index expression, seen from its types alone.
template <bool Holds> constexpr void modulo_of_reals() { static_assert(Holds, "a % b: one of them is real; % takes integers, so drop the decimal point"); }
template <bool Holds> constexpr void arithmetic_on_predicate() { static_assert(Holds, "a op b: a predicate is no number; combine predicates with &&, || and !"); }
template <bool Holds> constexpr void logic_on_number() { static_assert(Holds, "a && b: one of them is a number; compare it first, as in kv_index <= q_index"); }
template <bool Holds> constexpr void divisor_not_constant() { static_assert(Holds, "a / b: integer division and % need a literal divisor"); }

constexpr auto lift(index_expression auto e) { return e; }
template <std::floating_point T> constexpr auto lift(T v) { return literal<Kind::real>{double(v)}; }
template <std::integral T> constexpr auto lift(T v) { return literal<Kind::integer>{long(v)}; }

template <class T> inline constexpr bool is_literal = false;
template <Kind K> inline constexpr bool is_literal<literal<K>> = true;

template <Op O, class A, class B>
constexpr auto index_binary(A a, B b) {
  constexpr bool logic = O == Op::both || O == Op::either;
  constexpr bool compares = O == Op::lt || O == Op::le || O == Op::eq;
  constexpr bool predicates = A::kind == Kind::predicate || B::kind == Kind::predicate;
  constexpr bool reals = A::kind == Kind::real || B::kind == Kind::real;
  if constexpr (logic) logic_on_number<A::kind == Kind::predicate && B::kind == Kind::predicate>();
  else arithmetic_on_predicate<!predicates>();
  if constexpr (O == Op::mod) modulo_of_reals<!reals>();
  if constexpr ((O == Op::div || O == Op::mod) && !reals && !predicates) divisor_not_constant<is_literal<B>>();
  constexpr Kind k = logic || compares ? Kind::predicate : reals ? Kind::real : Kind::integer;
  return apply<O, k, hana::tuple<A, B>>{hana::tuple<A, B>{a, b}};
}
template <Op O, Kind K, class A>
constexpr auto index_unary(A a) { return apply<O, K, hana::tuple<A>>{hana::tuple<A>{a}}; }

#define ATTUNE_INDEX_BINARY(sym, expr)                                   \
  template <index_operand A, index_operand B>                            \
    requires(index_expression<A> || index_expression<B>)                 \
  constexpr auto operator sym(A a, B b) { return expr; }
ATTUNE_INDEX_BINARY(+, index_binary<Op::add>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(-, index_binary<Op::sub>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(*, index_binary<Op::mul>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(/, index_binary<Op::div>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(%, index_binary<Op::mod>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(<, index_binary<Op::lt>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(<=, index_binary<Op::le>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(>, index_binary<Op::lt>(lift(b), lift(a)))
ATTUNE_INDEX_BINARY(>=, index_binary<Op::le>(lift(b), lift(a)))
ATTUNE_INDEX_BINARY(==, index_binary<Op::eq>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(!=, !index_binary<Op::eq>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(&&, index_binary<Op::both>(lift(a), lift(b)))
ATTUNE_INDEX_BINARY(||, index_binary<Op::either>(lift(a), lift(b)))
#undef ATTUNE_INDEX_BINARY

template <index_expression A>
constexpr auto operator!(A a) {
  logic_on_number<A::kind == Kind::predicate>();
  return index_unary<Op::negation, Kind::predicate>(a);
}
template <index_expression A>
constexpr auto operator-(A a) { return index_binary<Op::sub>(literal<Kind::integer>{0}, a); }

// exp and tanh are real; min and max are integer when both operands are.
template <index_expression A> constexpr auto exp(A a) { return index_unary<Op::exp, Kind::real>(a); }
template <index_expression A> constexpr auto tanh(A a) { return index_unary<Op::tanh, Kind::real>(a); }
template <index_operand A, index_operand B> requires(index_expression<A> || index_expression<B>)
constexpr auto min(const A& a, const B& b) { return index_binary<Op::min>(lift(a), lift(b)); }
template <index_operand A, index_operand B> requires(index_expression<A> || index_expression<B>)
constexpr auto max(const A& a, const B& b) { return index_binary<Op::max>(lift(a), lift(b)); }
template <index_expression A> constexpr auto min(const A& a, const A& b) { return index_binary<Op::min>(a, b); }  // outranks std::min
template <index_expression A> constexpr auto max(const A& a, const A& b) { return index_binary<Op::max>(a, b); }

// The expression as graph nodes.
template <Kind K>
constexpr ref fold(const literal<K>& l, int line) {
  Attr at;
  if constexpr (K == Kind::real) at.value = l.value;
  else at.count = l.value;
  return ref(Op::constant, {K, {}}, at, line);
}
template <Op O, Kind K, class P>
constexpr ref fold(const apply<O, K, P>& e, int line) {
  return hana::unpack(e.operands, [&](const auto&... x) { return ref(O, {K, {}}, {}, line, fold(x, line)...); });
}

}  // namespace attune
