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

// Operands is a list of types; plain members hold the operands, since they cost a compiler about half
// of what a hana::tuple of them does.
template <Op O, Kind K, class Operands = hana::tuple<>>
struct apply;
template <Op O, Kind K>
struct apply<O, K, hana::tuple<>> {
  static constexpr Kind kind = K;
};
template <Op O, Kind K, class A>
struct apply<O, K, hana::tuple<A>> {
  static constexpr Kind kind = K;
  A a;
};
template <Op O, Kind K, class A, class B>
struct apply<O, K, hana::tuple<A, B>> {
  static constexpr Kind kind = K;
  A a;
  B b;
};

template <Kind K>
struct literal {
  static constexpr Kind kind = K;
  using Value = std::conditional_t<K == Kind::real, double, long>;
  Value value;
  constexpr literal(Value v) : value(v) {}
};

// Read by coordinates, as in lengths(batch_index): an argument of the kernel or a weight.
template <class Table, class... I>
struct looked_up {
  static constexpr Kind kind = Table::element;
  Table table;
  hana::tuple<I...> at;
};

template <class T>
inline constexpr bool is_index_expression = false;
template <class Table, class... I>
inline constexpr bool is_index_expression<looked_up<Table, I...>> = true;
template <Op O, Kind K, class P>
inline constexpr bool is_index_expression<apply<O, K, P>> = true;
template <Kind K>
inline constexpr bool is_index_expression<literal<K>> = true;
template <class T>
concept index_expression = is_index_expression<std::remove_cvref_t<T>>;
template <class T>
concept arithmetic = std::is_arithmetic_v<std::remove_cvref_t<T>>;
template <class T>
concept index_operand = index_expression<T> || arithmetic<T>;

// Coordinates of a score, each counted from 0.
inline constexpr apply<Op::batch_index, Kind::integer> batch_index{};
inline constexpr apply<Op::head_index, Kind::integer> head_index{};
inline constexpr apply<Op::q_index, Kind::integer> q_index{};
inline constexpr apply<Op::kv_index, Kind::integer> kv_index{};

// Coordinates of an angle of rope: the row of what is rotated, and the pair of features.
inline constexpr apply<Op::seq_index, Kind::integer> seq_index{};
inline constexpr apply<Op::pair_index, Kind::integer> pair_index{};

// The leaves of an expression other than literals, as a set.
using Leaves = unsigned;
constexpr Leaves leaf(Op op) { return op < Op::batch_index ? 0 : 1u << (unsigned(op) - unsigned(Op::batch_index)); }
inline constexpr Leaves coordinates = leaf(Op::batch_index) | leaf(Op::head_index) | leaf(Op::q_index) | leaf(Op::kv_index);
inline constexpr Leaves of_angles = leaf(Op::seq_index) | leaf(Op::pair_index);
template <class T>
inline constexpr Leaves leaves = 0;
template <Op O, Kind K, class... X>
inline constexpr Leaves leaves<apply<O, K, hana::tuple<X...>>> = (leaf(O) | ... | leaves<X>);
template <class Table, class... I>
inline constexpr Leaves leaves<looked_up<Table, I...>> = (0u | ... | leaves<I>);

// Whether it reads a table.
template <class T>
inline constexpr bool reads_table = false;
template <class Table, class... I>
inline constexpr bool reads_table<looked_up<Table, I...>> = true;
template <Op O, Kind K, class... X>
inline constexpr bool reads_table<apply<O, K, hana::tuple<X...>>> = (reads_table<X> || ...);

constexpr const auto& lift(const index_expression auto& e) { return e; }
template <std::floating_point T>
constexpr auto lift(T v) { return literal<Kind::real>(double(v)); }
template <std::integral T>
constexpr auto lift(T v) { return literal<Kind::integer>(long(v)); }
template <class T>
using lifted = std::remove_cvref_t<decltype(lift(std::declval<const T&>()))>;

template <class T>
inline constexpr bool is_literal = false;
template <Kind K>
inline constexpr bool is_literal<literal<K>> = true;

// What is wrong with `a op b`, seen from its types alone.
constexpr Rule index_rule(Op op, Kind a, Kind b, bool literal_b) {
  const bool reals = a == Kind::real || b == Kind::real;
  if (op == Op::both || op == Op::either || op == Op::negation) return a == Kind::predicate && b == Kind::predicate ? Rule::ok : Rule::logic_on_number;
  if (a == Kind::predicate || b == Kind::predicate) return Rule::predicate_in_arithmetic;
  if (op == Op::mod && reals) return Rule::modulo_of_reals;
  if ((op == Op::div || op == Op::mod) && !reals && !literal_b) return Rule::divisor_not_literal;
  return Rule::ok;
}
constexpr Kind index_kind(Op op, Kind a, Kind b) {
  if (op == Op::both || op == Op::either || op == Op::negation || op == Op::lt || op == Op::le || op == Op::eq) return Kind::predicate;
  return op == Op::exp || op == Op::log || op == Op::tanh || a == Kind::real || b == Kind::real ? Kind::real : Kind::integer;
}

template <Op O, index_operand X, index_operand Y>
constexpr auto index_binary(const X& x, const Y& y) {
  using A = lifted<X>;
  using B = lifted<Y>;
  constexpr Rule rule = index_rule(O, A::kind, B::kind, is_literal<B>);
  if constexpr (rule == Rule::ok) {
    return apply<O, index_kind(O, A::kind, B::kind), hana::tuple<A, B>>{x, y};
  } else {
    report<rule, O>();
    return poison{};
  }
}

template <Op O, class A>
constexpr auto index_unary(const A& a) {
  constexpr Rule rule = index_rule(O, A::kind, A::kind, false);
  if constexpr (rule == Rule::ok) {
    return apply<O, index_kind(O, A::kind, A::kind), hana::tuple<A>>{a};
  } else {
    report<rule, O>();
    return poison{};
  }
}

// The expression as graph nodes.
template <Kind K>
constexpr ref fold(const literal<K>& l, int line) {
  Attr at;
  if constexpr (K == Kind::real)
    at.value = l.value;
  else
    at.count = l.value;
  return ref(Op::constant, {K, {}}, at, line);
}
template <Op O, Kind K>
constexpr ref fold(const apply<O, K, hana::tuple<>>&, int line) { return ref(O, {K, {}}, {}, line); }
template <class Table, class... I>
constexpr ref fold(const looked_up<Table, I...>& e, int line) {
  return hana::unpack(e.at, [&](const auto&... i) { return ref(Op::look_up, {Table::element, {}}, {}, line, ref(Table::stored, Table::type, {.name = e.table.name}, line), fold(i, line)...); });
}
template <Op O, Kind K, class A>
constexpr ref fold(const apply<O, K, hana::tuple<A>>& e, int line) { return ref(O, {K, {}}, {}, line, fold(e.a, line)); }
template <Op O, Kind K, class A, class B>
constexpr ref fold(const apply<O, K, hana::tuple<A, B>>& e, int line) { return ref(O, {K, {}}, {}, line, fold(e.a, line), fold(e.b, line)); }

}  // namespace attune
