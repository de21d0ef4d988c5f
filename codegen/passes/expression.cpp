#include "passes/expression.h"

#include <algorithm>
#include <array>
#include <optional>
#include <stdexcept>

namespace attune {

bool Expression::uses(Fn f) const {
  return std::any_of(terms.begin(), terms.end(), [&](const Term& t) { return t.fn == f; });
}

int ExpressionBuilder::add(const Term& t) {
  const auto it = std::find(e_.terms.begin(), e_.terms.end(), t);
  if (it != e_.terms.end()) return int(it - e_.terms.begin());
  e_.terms.push_back(t);
  return int(e_.terms.size()) - 1;
}

int ExpressionBuilder::constant(double value, Kind kind) { return add({Fn::constant, kind, value, 0, {}}); }

int ExpressionBuilder::tensor(const View& v, Kind kind) {
  auto it = std::find(e_.tensors.begin(), e_.tensors.end(), v);
  if (it == e_.tensors.end()) it = e_.tensors.insert(e_.tensors.end(), v);
  return add({Fn::tensor, kind, 0, it - e_.tensors.begin(), {}});
}

int ExpressionBuilder::apply(Fn fn, Kind kind, std::vector<int> operands) { return add({fn, kind, 0, 0, std::move(operands)}); }

int ExpressionBuilder::elementwise(Op op, Kind kind, std::vector<int> in) {
  const Kind result = kind == Kind::integer || kind == Kind::predicate ? kind : Kind::real;
  const auto fn = [&] {
    switch (op) {
      case Op::add: return Fn::add;
      case Op::sub: return Fn::sub;
      case Op::mul: return Fn::mul;
      case Op::div: return result == Kind::integer ? Fn::floor_div : Fn::div;
      case Op::mod: return Fn::floor_mod;
      case Op::min: return Fn::min;
      case Op::max: return Fn::max;
      case Op::tanh: return Fn::tanh;
      case Op::exp: return Fn::exp;
      case Op::log: return Fn::log;
      case Op::lt: return Fn::less;
      case Op::le: return Fn::less_equal;
      case Op::eq: return Fn::equal;
      case Op::both: return Fn::both;
      case Op::either: return Fn::either;
      case Op::negation: return Fn::negation;
      default: throw std::logic_error("expression: not an elementwise op");
    }
  }();
  return apply(fn, result, std::move(in));
}

// Which of a region's coordinates a leaf is, or -1.
static int coordinate_of(Op leaf) {
  switch (leaf) {
    case Op::batch_index: return 0;
    case Op::head_index: return 1;
    case Op::q_index:
    case Op::seq_index: return 2;
    case Op::kv_index:
    case Op::pair_index: return 3;
    default: return -1;
  }
}

// offset + the sum of strides * coordinates, if an integer expression is that.
struct AffineIndex {
  long offset = 0;
  std::array<long, region_rank> strides{};
};
static std::optional<AffineIndex> affine_index(const Graph& g, int node) {
  const Node& n = g[node];
  AffineIndex r;
  if (n.op == Op::constant) r.offset = n.attr.count;
  else if (const int c = coordinate_of(n.op); c >= 0) r.strides[std::size_t(c)] = 1;
  else if (n.op == Op::add || n.op == Op::sub || n.op == Op::mul) {
    const auto x = affine_index(g, n.in[0]), y = affine_index(g, n.in[1]);
    if (!x || !y) return std::nullopt;
    const auto combined = [](const AffineIndex& a, long by, const AffineIndex& b, long times) {
      AffineIndex s{a.offset * by + b.offset * times, {}};
      for (std::size_t i = 0; i < s.strides.size(); ++i) s.strides[i] = a.strides[i] * by + b.strides[i] * times;
      return s;
    };
    if (n.op != Op::mul) return combined(*x, 1, *y, n.op == Op::add ? 1 : -1);
    if (g[n.in[1]].op == Op::constant) return combined(*x, y->offset, {}, 0);
    if (g[n.in[0]].op == Op::constant) return combined(*y, x->offset, {}, 0);
    return std::nullopt;
  } else {
    return std::nullopt;
  }
  return r;
}

std::optional<View> looked_up(const Graph& g, int id) {
  const Node& n = g[id];
  View v{-1, 0, std::vector<Axes>(std::size_t(region_rank))};
  long stride = 1;
  std::array<long, region_rank> strides{};
  for (int i = n.operands() - 1; i > 0; --i) {
    const auto at = affine_index(g, n.in[std::size_t(i)]);
    if (!at) return std::nullopt;
    v.offset += stride * at->offset;
    for (std::size_t c = 0; c < strides.size(); ++c) strides[c] += stride * at->strides[c];
    stride *= g[n.in[0]].type.dims[i - 1];
  }
  for (std::size_t c = 0; c < strides.size(); ++c)
    if (strides[c] != 0) v.dims[c] = {{stride, strides[c]}};
  return v;
}

int ExpressionBuilder::index(const Graph& g, int node, const Stored& stored) {
  const Node& n = g[node];
  switch (n.op) {
    case Op::constant: return n.type.kind == Kind::integer ? constant(double(n.attr.count), Kind::integer) : constant(n.attr.value);
    case Op::score: return apply(Fn::acc, Kind::real, {});
    case Op::row_max: return apply(Fn::peak, Kind::real, {});
    case Op::old_max: return apply(Fn::old_peak, Kind::real, {});
    case Op::row_sum: return apply(Fn::total, Kind::real, {});
    case Op::look_up: return tensor(stored(node), n.type.kind);
    default: break;
  }
  if (const int c = coordinate_of(n.op); c >= 0) return coordinate(c);
  std::vector<int> in;
  for (int k : n.in)
    if (k >= 0) in.push_back(index(g, k, stored));
  return elementwise(n.op, n.type.kind, in);
}

Expression ExpressionBuilder::finish(int root) {
  // The root stands last and nothing stands there in vain.
  std::vector<int> renamed(e_.terms.size(), -1);
  std::vector<char> live(e_.terms.size());
  live[std::size_t(root)] = 1;
  for (int i = root; i >= 0; --i)
    if (live[std::size_t(i)])
      for (int k : e_.terms[std::size_t(i)].in) live[std::size_t(k)] = 1;
  Expression r;
  for (int i = 0; i <= root; ++i) {
    if (!live[std::size_t(i)]) continue;
    Term t = e_.terms[std::size_t(i)];
    for (int& k : t.in) k = renamed[std::size_t(k)];
    if (t.fn == Fn::tensor) {
      r.tensors.push_back(e_.tensors[std::size_t(t.index)]);
      t.index = long(r.tensors.size()) - 1;
    }
    renamed[std::size_t(i)] = int(r.terms.size());
    r.terms.push_back(t);
  }
  return r;
}

Expression index_expression_of(const Graph& g, int node, const ExpressionBuilder::Stored& stored) {
  ExpressionBuilder b;
  return b.finish(b.index(g, node, stored));
}

double extract_scale(Expression& e) {
  int acc = -1, product = -1;
  for (int i = 0; i < int(e.terms.size()); ++i) {
    const Term& t = e.terms[std::size_t(i)];
    if (t.fn == Fn::acc) acc = i;
    for (int k : t.in) {
      if (acc < 0 || k != acc) continue;
      if (product >= 0 || t.fn != Fn::mul) return 1;
      product = i;
    }
  }
  if (product < 0) return 1;
  const auto& in = e.terms[std::size_t(product)].in;
  const Term& factor = e.terms[std::size_t(in[0] == acc ? in[1] : in[0])];
  if (factor.fn != Fn::constant) return 1;
  const double scale = factor.value;
  ExpressionBuilder b;
  std::vector<int> renamed;
  for (int i = 0; i < int(e.terms.size()); ++i) {
    Term t = e.terms[std::size_t(i)];
    for (int& k : t.in) k = renamed[std::size_t(k)];
    if (i == product) renamed.push_back(renamed[std::size_t(acc)]);
    else if (t.fn == Fn::tensor) renamed.push_back(b.tensor(e.tensors[std::size_t(t.index)], t.kind));
    else renamed.push_back(b.add(t));
  }
  e = b.finish(renamed.back());
  return scale;
}

}  // namespace attune
