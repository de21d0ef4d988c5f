#include "graph/expression.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>

namespace attune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

double least(double a, double b) { return std::isnan(a) || a < b ? a : b; }
double greatest(double a, double b) { return std::isnan(a) || a > b ? a : b; }

// x op y over the corners of the box a x b, for an op that is monotone in each operand.
template <class F>
Interval over_corners(const Interval& a, const Interval& b, F op) {
  const double corners[] = {op(a.lo, b.lo), op(a.lo, b.hi), op(a.hi, b.lo), op(a.hi, b.hi)};
  return {*std::min_element(corners, corners + 4), op(a.value, b.value), *std::max_element(corners, corners + 4)};
}

long floor_div(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

}  // namespace

// What a look-up reads.
static double table_at(const Graph& g, int node, const Coordinates& at) {
  const Node& n = g[node];
  if (!at.tables) return 1;
  long index = 0;
  for (int i = 1; i < n.operands(); ++i) index = index * g[n.in[0]].type.dims[i - 1] + integer_at(g, n.in[std::size_t(i)], at);
  return at.tables->at(n.in[0])->at(std::size_t(index));
}

double Interval::error() const {
  const double above = hi - value, below = value - lo;
  return std::isnan(above) || std::isnan(below) ? infinity : std::max(above, below);
}

Interval apply(Op op, const Interval& a, const Interval& b) {
  switch (op) {
    case Op::add: return {a.lo + b.lo, a.value + b.value, a.hi + b.hi};
    case Op::sub: return {a.lo - b.hi, a.value - b.value, a.hi - b.lo};
    case Op::mul: return over_corners(a, b, [](double x, double y) { return x * y; });
    case Op::div:
      if (b.lo != b.hi && b.lo <= 0 && b.hi >= 0) return {-infinity, a.value / b.value, infinity};
      return over_corners(a, b, [](double x, double y) { return x / y; });
    case Op::min: return {least(a.lo, b.lo), least(a.value, b.value), least(a.hi, b.hi)};
    case Op::max: return {greatest(a.lo, b.lo), greatest(a.value, b.value), greatest(a.hi, b.hi)};
    case Op::tanh: return {std::tanh(a.lo), std::tanh(a.value), std::tanh(a.hi)};
    case Op::exp:
      if (a.lo == a.hi) return std::exp(a.value);
      return {std::exp(a.lo), std::exp(a.value), std::exp(a.hi)};
    case Op::log: return {a.lo < 0 ? -infinity : std::log(a.lo), std::log(a.value), std::log(a.hi)};
    default: throw std::logic_error("apply: not an arithmetic op");
  }
}

long integer_at(const Graph& g, int node, const Coordinates& at) {
  const Node& n = g[node];
  const auto operand = [&](int i) { return integer_at(g, n.in[std::size_t(i)], at); };
  switch (n.op) {
    case Op::constant: return n.attr.count;
    case Op::batch_index: return at.batch;
    case Op::head_index: return at.head;
    case Op::q_index:
    case Op::seq_index: return at.q;
    case Op::kv_index:
    case Op::pair_index: return at.kv;
    case Op::look_up: return long(table_at(g, node, at));
    case Op::add: return operand(0) + operand(1);
    case Op::sub: return operand(0) - operand(1);
    case Op::mul: return operand(0) * operand(1);
    case Op::div: return floor_div(operand(0), operand(1));
    case Op::mod: return operand(0) - floor_div(operand(0), operand(1)) * operand(1);
    case Op::min: return std::min(operand(0), operand(1));
    case Op::max: return std::max(operand(0), operand(1));
    default: throw std::logic_error("integer_at: not an integer expression");
  }
}

Interval number_at(const Graph& g, int node, const Coordinates& at, const RowState& row) {
  const Node& n = g[node];
  if (n.type.kind == Kind::integer) return double(integer_at(g, node, at));
  const auto operand = [&](int i) { return number_at(g, n.in[std::size_t(i)], at, row); };
  switch (n.op) {
    case Op::constant: return n.attr.value;
    case Op::score: return row.score;
    case Op::row_max: return row.row_max;
    case Op::old_max: return row.old_max;
    case Op::row_sum: return row.row_sum;
    case Op::look_up: return table_at(g, node, at);
    case Op::tanh:
    case Op::exp:
    case Op::log: return apply(n.op, operand(0));
    default: return apply(n.op, operand(0), operand(1));
  }
}

bool holds_at(const Graph& g, int node, const Coordinates& at, const RowState& row) {
  const Node& n = g[node];
  const auto holds = [&](int i) { return holds_at(g, n.in[std::size_t(i)], at, row); };
  const auto compare = [&](auto op) {  // integers are compared as such: exact beyond 2^53
    const int a = n.in[0], b = n.in[1];
    if (g[a].type.kind == Kind::integer && g[b].type.kind == Kind::integer) return op(integer_at(g, a, at), integer_at(g, b, at));
    return op(number_at(g, a, at, row).value, number_at(g, b, at, row).value);
  };
  switch (n.op) {
    case Op::lt: return compare([](auto a, auto b) { return a < b; });
    case Op::le: return compare([](auto a, auto b) { return a <= b; });
    case Op::eq: return compare([](auto a, auto b) { return a == b; });
    case Op::both: return holds(0) && holds(1);
    case Op::either: return holds(0) || holds(1);
    case Op::negation: return !holds(0);
    default: throw std::logic_error("holds_at: not a predicate");
  }
}

bool mentions(const Graph& g, int node, Op leaf) {
  if (g[node].op == leaf) return true;
  for (int i : g[node].in)
    if (i >= 0 && mentions(g, i, leaf)) return true;
  return false;
}

}  // namespace attune
