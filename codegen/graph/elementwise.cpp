// Elementwise ops on tensors and scores, with numpy's broadcasting.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/value.h"

namespace attune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Where the element of an operand that broadcasts to the result stands.
class Broadcast {
  std::array<long, max_rank> stride_{};

 public:
  explicit Broadcast(const Dims& d) {
    long stride = 1;
    for (int i = 1; i <= d.rank; ++i) {
      stride_[std::size_t(max_rank - i)] = d[-i] == 1 ? 0 : stride;
      stride *= d[-i];
    }
  }
  std::size_t operator()(const Coordinates& at) const { return std::size_t(at.batch * stride_[0] + at.head * stride_[1] + at.q * stride_[2] + at.kv * stride_[3]); }
};

struct Element {
  double v = 0, carried = 0, rounding = 0;
  bool removed = false;
  double error() const { return carried + rounding; }
};

class Operand {
  const Graph& g_;
  int node_;
  const Value* value_;
  const Tables& tables_;
  Broadcast place_;
  bool is_scores_, additive_;

 public:
  // In scores, a term of a sum counts in S, a factor does not: what it scales does already.
  Operand(const Graph& g, int node, const Value* value, const Tables& tables, bool additive)
      : g_(g), node_(node), value_(value), tables_(tables), place_(value ? value->dims : Dims{}), is_scores_(node >= 0 && g[node].type.kind == Kind::scores), additive_(additive) {}
  Element at(Coordinates c) const {
    if (node_ < 0) return {};
    Element e;
    if (!value_) {
      c.tables = &tables_;
      e.v = number_at(g_, node_, c).value;
      e.carried = std::abs(e.v - double(float(e.v)));  // a constant is rounded
    } else {
      const std::size_t i = place_(c);
      e = {value_->v[i], value_->carried_at(i), value_->rounding_at(i), value_->removed_at(i)};
    }
    if (!is_scores_ && additive_ && std::isfinite(e.v)) e.rounding = 16 * f32_unit * std::abs(e.v);
    return e;
  }
};

// What evaluating `op` in f32 adds of its own to a score; the rounding of sums and products is in
// S already, what they flush to 0 is not.
double own_rounding_of_score(Op op, double result) {
  if (op == Op::tanh) return 16 * f32_unit * std::abs(result) + 0x1p-22;
  if (op == Op::exp) return 16 * f32_unit * result + f32_least_normal;
  if (op == Op::log) return 16 * f32_unit * std::abs(result);
  return f32_least_normal;
}

double own_rounding(Op op, double a, double result) {
  if (op == Op::tanh) return 2 * f32_unit * std::abs(result) + 0x1p-22;
  if (op == Op::exp) return 16 * f32_unit * (1 + std::abs(a)) * result + f32_least_normal;
  if (op == Op::log) return 8 * f32_unit * std::abs(result);
  return 2 * f32_unit * std::abs(result) + f32_least_normal;
}

}  // namespace

Value elementwise(const Graph& g, const Node& n, const Value* a, const Value* b, const Tables& tables) {
  const bool is_scores = n.type.kind == Kind::scores;
  const bool additive = is_scores && (n.op == Op::add || n.op == Op::sub || n.op == Op::min || n.op == Op::max);
  const Operand left(g, n.in[0], a, tables, additive), right(g, n.in[1], b, tables, additive);
  const std::size_t size = std::size_t(n.type.dims.size());
  const bool exact = is_scores && (!a || a->carried.empty()) && (!b || b->carried.empty());
  Value r{.dims = n.type.dims, .v = std::vector<double>(size)};
  if (!exact) r.carried.resize(size);
  if (is_scores) {
    r.rounding.resize(size);
    r.removed.resize(size);
  }
  for_each_element(n.type.dims, [&](const Coordinates& at, std::size_t i) {
    const Element x = left.at(at), y = right.at(at);
    double& v = r.v[i] = apply(n.op, x.v, y.v).value;
    const bool weightless = (x.removed && x.v == 0) || (y.removed && y.v == 0 && n.op == Op::mul);
    if (weightless && (n.op == Op::mul || n.op == Op::div)) v = 0;  // whatever the factor is
    const auto error = [&](double ex, double ey) { return ex == 0 && ey == 0 ? 0 : apply(n.op, {x.v, ex}, {y.v, ey}).error(); };
    if (!is_scores) {
      r.carried[i] = error(x.error(), y.error()) + own_rounding(n.op, x.v, v);
      return;
    }
    // A removed pair stays removed while its value still says so: -inf before a reduction, a
    // weight of 0 behind one.
    const bool was_removed = x.removed || y.removed;
    r.removed[i] = v == -infinity || (was_removed && v == 0);
    if (r.removed[i]) return;
    if (!exact) r.carried[i] = error(x.carried, y.carried);
    r.rounding[i] = error(x.rounding, y.rounding) + own_rounding_of_score(n.op, v);
  });
  return r;
}

}  // namespace attune
