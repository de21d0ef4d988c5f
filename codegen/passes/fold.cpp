#include "passes/fold.h"

#include <cmath>
#include <optional>

#include "passes/rewrite.h"

namespace attune {

static std::optional<double> constant_of(const Node& n) {
  if (n.op != Op::constant) return std::nullopt;
  return n.type.kind == Kind::integer ? double(n.attr.count) : n.attr.value;
}

static std::optional<double> evaluate(Op op, Kind kind, double a, double b) {
  switch (op) {
    case Op::add: return a + b;
    case Op::sub: return a - b;
    case Op::mul: return a * b;
    case Op::div: return kind == Kind::integer ? std::floor(a / b) : a / b;
    case Op::mod: return a - std::floor(a / b) * b;
    case Op::min: return a < b ? a : b;
    case Op::max: return a > b ? a : b;
    default: return std::nullopt;
  }
}

// Dividing by c and multiplying by 1/c differ by a rounding; scores have the room for it, and a
// power of two has no rounding at all.
static bool may_invert(double c, Kind kind) {
  int exponent = 0;
  return c != 0 && (kind == Kind::scores || std::abs(std::frexp(c, &exponent)) == 0.5);
}

static int fold(Rewriter& r, Node n) {
  if (n.operands() != 2 || n.op < Op::add || n.op > Op::max) return r.add(n);
  std::optional<double> a = constant_of(r[n.in[0]]), b = constant_of(r[n.in[1]]);
  const bool real = n.type.kind != Kind::integer;
  if (a && b)
    if (auto v = evaluate(n.op, n.type.kind, *a, *b)) return r.constant(*v, n.type.kind, n.line);
  if (a && (n.op == Op::add || n.op == Op::mul)) {  // the constant goes to the right
    std::swap(n.in[0], n.in[1]);
    std::swap(a, b);
  }
  if (n.op == Op::add && n.type.kind == Kind::scores) {  // x * c + y * c
    const Node x = r[n.in[0]], y = r[n.in[1]];
    const auto scaled = [&](const Node& m) { return m.op == Op::mul && m.type == n.type && r[m.in[0]].type == n.type && constant_of(r[m.in[1]]); };
    if (scaled(x) && scaled(y) && x.in[1] == y.in[1]) return r.add({Op::mul, n.type, {}, operand_list({r.add({Op::add, n.type, {}, operand_list({x.in[0], y.in[0]}), n.line}), x.in[1]}), n.line});
  }
  if (!b) return r.add(n);
  if (n.op == Op::div && real && may_invert(*b, n.type.kind)) {
    n.op = Op::mul;
    b = 1 / *b;
    n.in[1] = r.constant(*b, Kind::real, n.line);
  }
  const Node inner = r[n.in[0]];
  const bool same_type = inner.type == n.type;
  if (n.op == Op::mul && *b == 1 && same_type) return n.in[0];
  if ((n.op == Op::add || n.op == Op::sub) && *b == 0 && same_type && !real) return n.in[0];
  if (n.op == Op::mul && inner.op == Op::mul && same_type && n.type.kind == Kind::scores) {  // (x * c) * d, each rounded once either way
    const std::optional<double> c = constant_of(r[inner.in[1]]);
    if (c && inner.in[0] != n.in[1] && std::isfinite(*c * *b)) return r.add({Op::mul, n.type, {}, operand_list({inner.in[0], r.constant(*c * *b, Kind::real, n.line)}), n.line});
  }
  return r.add(n);
}

Graph fold_constants(const Graph& g) { return Rewriter::apply(g, fold); }

}  // namespace attune
