#include "passes/expression.h"

#include <algorithm>
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

int ExpressionBuilder::tensor(const View& v) {
  auto it = std::find(e_.tensors.begin(), e_.tensors.end(), v);
  if (it == e_.tensors.end()) it = e_.tensors.insert(e_.tensors.end(), v);
  return add({Fn::tensor, Kind::real, 0, it - e_.tensors.begin(), {}});
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

int ExpressionBuilder::index(const Graph& g, int node) {
  const Node& n = g[node];
  switch (n.op) {
    case Op::constant: return n.type.kind == Kind::integer ? constant(double(n.attr.count), Kind::integer) : constant(n.attr.value);
    case Op::batch_index: return coordinate(0);
    case Op::head_index: return coordinate(1);
    case Op::q_index: return coordinate(2);
    case Op::kv_index: return coordinate(3);
    case Op::score: return apply(Fn::acc, Kind::real, {});
    case Op::row_max: return apply(Fn::peak, Kind::real, {});
    case Op::old_max: return apply(Fn::old_peak, Kind::real, {});
    case Op::row_sum: return apply(Fn::total, Kind::real, {});
    default: break;
  }
  std::vector<int> in;
  for (int k : n.in)
    if (k >= 0) in.push_back(index(g, k));
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

Expression index_expression_of(const Graph& g, int node) {
  ExpressionBuilder b;
  return b.finish(b.index(g, node));
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
    else if (t.fn == Fn::tensor) renamed.push_back(b.tensor(e.tensors[std::size_t(t.index)]));
    else renamed.push_back(b.add(t));
  }
  e = b.finish(renamed.back());
  return scale;
}

}  // namespace attune
