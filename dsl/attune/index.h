// Index expressions: functions of the coordinates (batch, head, q, kv) of one score, and of the
// state of one row. They are expression templates over their operands, so a literal needs no
// suffix and a predicate can be a named constant:
//
//   constexpr auto window = kv_index <= q_index && q_index - kv_index < 1024;
//
// `/` and `%` of integers floor; their divisor is a positive literal. An expression with a
// floating literal in it is real: there `/` divides and `%` is an error.
#pragma once
#include <boost/hana/tuple.hpp>
#include <boost/hana/unpack.hpp>
#include <concepts>
#include <type_traits>
#include "attune/declare.h"
#include "attune/report.h"

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

template <class T> inline constexpr bool is_index_expression = false;
template <Op O, Kind K, class P> inline constexpr bool is_index_expression<apply<O, K, P>> = true;
template <Kind K> inline constexpr bool is_index_expression<literal<K>> = true;
template <class T> concept index_expression = is_index_expression<std::remove_cvref_t<T>>;
template <class T> concept arithmetic = std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T> concept index_operand = index_expression<T> || arithmetic<T>;

// Coordinates of a score, each counted from 0.
inline constexpr apply<Op::batch_index, Kind::integer> batch_index{};
inline constexpr apply<Op::head_index, Kind::integer> head_index{};
inline constexpr apply<Op::q_index, Kind::integer> q_index{};
inline constexpr apply<Op::kv_index, Kind::integer> kv_index{};

// The leaves of an expression other than literals, as a set.
using Leaves = unsigned;
constexpr Leaves leaf(Op op) { return op < Op::batch_index ? 0 : 1u << (unsigned(op) - unsigned(Op::batch_index)); }
inline constexpr Leaves coordinates = leaf(Op::batch_index) | leaf(Op::head_index) | leaf(Op::q_index) | leaf(Op::kv_index);
template <class T> inline constexpr Leaves leaves = 0;
template <Op O, Kind K, class... X> inline constexpr Leaves leaves<apply<O, K, hana::tuple<X...>>> = (leaf(O) | ... | leaves<X>);

constexpr auto lift(index_expression auto e) { return e; }
template <std::floating_point T> constexpr auto lift(T v) { return literal<Kind::real>{double(v)}; }
template <std::integral T> constexpr auto lift(T v) { return literal<Kind::integer>{long(v)}; }

template <class T> inline constexpr bool is_literal = false;
template <Kind K> inline constexpr bool is_literal<literal<K>> = true;

// What is wrong with `a op b`, seen from its types alone.
template <Op O, class A, class B>
constexpr Rule index_rule() {
  const bool predicates = A::kind == Kind::predicate || B::kind == Kind::predicate;
  const bool reals = A::kind == Kind::real || B::kind == Kind::real;
  if (O == Op::both || O == Op::either || O == Op::negation) return A::kind == Kind::predicate && B::kind == Kind::predicate ? Rule::ok : Rule::logic_on_number;
  if (predicates) return Rule::predicate_in_arithmetic;
  if (O == Op::mod && reals) return Rule::modulo_of_reals;
  if ((O == Op::div || O == Op::mod) && !reals && !is_literal<B>) return Rule::divisor_not_literal;
  return Rule::ok;
}

template <Op O, class A, class B>
constexpr auto index_binary(const A& a, const B& b) {
  constexpr Rule rule = index_rule<O, A, B>();
  if constexpr (rule != Rule::ok) {
    report<rule, O>();
    return poison{};
  } else {
    constexpr bool truth = O == Op::both || O == Op::either || O == Op::lt || O == Op::le || O == Op::eq;
    constexpr bool reals = A::kind == Kind::real || B::kind == Kind::real;
    constexpr Kind k = truth ? Kind::predicate : reals ? Kind::real : Kind::integer;
    return apply<O, k, hana::tuple<A, B>>{hana::tuple<A, B>{a, b}};
  }
}

template <Op O, class A>
constexpr auto index_unary(const A& a) {
  constexpr Rule rule = index_rule<O, A, A>();
  if constexpr (rule != Rule::ok) {
    report<rule, O>();
    return poison{};
  } else {
    return apply<O, O == Op::negation ? Kind::predicate : Kind::real, hana::tuple<A>>{hana::tuple<A>{a}};
  }
}

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
