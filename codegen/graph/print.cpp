#include "graph/print.h"

#include <fmt/format.h>

#include <cmath>
#include <vector>

namespace attune {

namespace {

// Precedence as in C++, larger binds tighter.
enum Level { lowest, either_level, both_level, equality_level, comparison_level, sum_level, product_level, unary_level };

struct Infix {
  std::string_view symbol{};  // empty: written as a call
  Level level = lowest;
};

Infix infix_of(Op op) {
  switch (op) {
    case Op::add: return {"+", sum_level};
    case Op::sub: return {"-", sum_level};
    case Op::mul: return {"*", product_level};
    case Op::div: return {"/", product_level};
    case Op::mod: return {"%", product_level};
    case Op::lt: return {"<", comparison_level};
    case Op::le: return {"<=", comparison_level};
    case Op::eq: return {"==", equality_level};
    case Op::both: return {"&&", both_level};
    case Op::either: return {"||", either_level};
    default: return {};
  }
}

bool is_associative(Op op) { return op == Op::add || op == Op::mul || op == Op::both || op == Op::either; }

std::string real_text(double v) {
  std::string s = fmt::format("{}", v);
  if (std::isfinite(v) && s.find_first_of(".e") == std::string::npos) s += ".0";
  return s;
}

// Writes expressions; a tensor, and any operand that does not stand before its user, is "%id".
class Writer {
  const Graph& g_;

  std::string infix(int node, std::string_view symbol, Level level) const {
    const Node& n = g_[node];
    const bool loose = is_associative(n.op) && in_line(node, 1) && g_[n.in[1]].op == n.op;
    return fmt::format("{} {} {}", operand(node, 0, level), symbol, operand(node, 1, loose ? level : Level(level + 1)));
  }
  bool is_zero(int node, int i) const {
    return in_line(node, i) && g_[g_[node].in[std::size_t(i)]].op == Op::constant && g_[g_[node].in[std::size_t(i)]].type.kind == Kind::integer &&
           g_[g_[node].in[std::size_t(i)]].attr.count == 0;
  }

 public:
  explicit Writer(const Graph& g) : g_(g) {}

  bool in_line(int node, int i) const {
    const int in = g_[node].in[std::size_t(i)];
    return in >= 0 && in < node && is_index(g_[in].type.kind);
  }

  // Operand i of `node`, in parentheses if it binds looser than `least`.
  std::string operand(int node, int i, Level least = lowest) const {
    const int in = g_[node].in[std::size_t(i)];
    if (in_line(node, i)) return expression(in, least);
    return in < 0 ? "?" : fmt::format("%{}", in);
  }

  std::string operands(int node) const {
    std::string s;
    for (int i = 0; i < g_[node].operands(); ++i) s += (i ? ", " : "") + operand(node, i);
    return s;
  }

  std::string expression(int node, Level least) const {
    const Node& n = g_[node];
    std::string s;
    Level level = unary_level;
    if (n.op == Op::constant) {
      s = n.type.kind == Kind::integer ? fmt::format("{}", n.attr.count) : real_text(n.attr.value);
    } else if (n.op == Op::negation && in_line(node, 0) && g_[n.in[0]].op == Op::eq) {
      s = infix(n.in[0], "!=", level = equality_level);
    } else if (n.op == Op::negation) {
      s = "!" + operand(node, 0, unary_level);
    } else if (n.op == Op::sub && is_zero(node, 0)) {
      s = "-" + operand(node, 1, unary_level);
    } else if (const Infix i = infix_of(n.op); !i.symbol.empty()) {
      s = infix(node, i.symbol, level = i.level);
    } else if (n.op == Op::look_up && n.in[0] >= 0 && n.in[0] < node) {
      for (int i = 1; i < n.operands(); ++i) s += (i > 1 ? ", " : "") + operand(node, i);
      s = fmt::format("{}({})", g_[n.in[0]].attr.name, s);
    } else {
      s = name_of(n.op);
      if (n.operands()) s += fmt::format("({})", operands(node));
    }
    return level < least ? "(" + s + ")" : s;
  }
};

std::string rotation_text(const PairRotation& r) {
  std::string s = r.pairs == Pairs::interleaved ? "interleaved" : "half_split";
  if (r.dims) s += fmt::format(", dims {}", r.dims);
  if (r.amplitude != 1) s += fmt::format(", amplitude {}", r.amplitude);
  return s;
}

std::string dims_text(const Dims& d) {
  std::string s;
  for (int i = 0; i < d.rank && i < max_rank; ++i) s += fmt::format("{}{}", i ? "," : "", d[i]);
  return s;
}

std::string quoted(std::string_view s) {
  std::string r = "\"";
  for (char c : s) {
    if (c == '"' || c == '\\') r += '\\';
    r += c;
  }
  return r + '"';
}

}  // namespace

std::string_view name_of(Op op) {
  constexpr std::string_view names[] = {"input", "weight", "linear", "split_heads", "merge_heads", "repeat_heads", "transpose", "unsqueeze", "features", "rope", "inverse_norm", "matmul", "mask",
                                        "reduce_rows", "row_value", "add", "sub", "mul", "div", "mod", "min", "max", "tanh", "exp", "log", "lt", "le", "eq", "both", "either",
                                        "negation", "constant", "batch_index", "head_index", "q_index", "kv_index", "seq_index", "pair_index", "look_up", "score", "row_max", "old_max", "row_sum"};
  static_assert(std::size(names) == std::size_t(Op::row_sum) + 1);
  return std::size_t(op) < std::size(names) ? names[std::size_t(op)] : "unknown op";
}

std::string_view last_part(Op reduction) { return reduction == Op::row_value ? "value" : "scale"; }

std::string type_text(const Type& t) {
  constexpr std::string_view names[] = {"integer", "real", "predicate", "tensor", "scores", "integers"};
  const std::string_view name = std::size_t(t.kind) < std::size(names) ? names[std::size_t(t.kind)] : "unknown kind";
  return is_index(t.kind) ? std::string(name) : fmt::format("{}<{}>", name, dims_text(t.dims));
}

std::string expression_text(const Graph& g, int node) { return Writer(g).expression(node, lowest); }

std::string node_text(const Graph& g, int node) {
  const Node& n = g[node];
  const Writer w(g);
  if (is_index(n.type.kind)) return w.expression(node, lowest);
  switch (n.op) {
    case Op::input:
    case Op::weight: return fmt::format("{}({})", name_of(n.op), quoted(n.attr.name));
    case Op::split_heads:
    case Op::repeat_heads:
    case Op::unsqueeze: return fmt::format("{}<{}>({})", name_of(n.op), n.attr.count, w.operands(node));
    case Op::features: return fmt::format("{}<{}, {}>({})", name_of(n.op), n.attr.from, n.attr.count, w.operands(node));
    case Op::inverse_norm: return fmt::format("inverse_{}_norm({}, eps {})", n.attr.count == long(Norm::rms) ? "rms" : "l2", w.operands(node), n.attr.value);
    case Op::rope: {
      std::string s = fmt::format("rope({}, frequency {}, position {}, ", w.operand(node, 0), w.operand(node, 1), w.operand(node, 2));
      if (n.in[3] >= 0) s += fmt::format("divisors {}, ", w.operand(node, 3));
      return s + rotation_text(n.attr.rotation) + ")";
    }
    case Op::reduce_rows:
    case Op::row_value:
      return fmt::format("{}({}, weight {}, rescale {}, {} {})", name_of(n.op), w.operand(node, 0), w.operand(node, 1), w.operand(node, 2), last_part(n.op), w.operand(node, 3));
    default: return w.expression(node, lowest);
  }
}

std::string to_text(const Graph& g) {
  std::string s;
  for (int i = 0; i < int(g.size()); ++i) {
    if (is_index(g[i].type.kind)) continue;
    s += fmt::format("%{} = {} : {}", i, node_text(g, i), type_text(g[i].type));
    s += g[i].line ? fmt::format("  // line {}\n", g[i].line) : "\n";
  }
  for (const Output& o : g.outputs) s += fmt::format("output {} = %{}\n", quoted(o.name), o.node);
  return s;
}

std::string to_graphviz(const Graph& g) {
  std::string s = "digraph attune {\n  node [shape=box, fontname=\"monospace\"];\n";
  const Writer w(g);
  for (int i = 0; i < int(g.size()); ++i) {
    const Node& n = g[i];
    if (is_index(n.type.kind)) continue;
    const bool stored = n.op == Op::input || n.op == Op::weight;
    std::string text = quoted(node_text(g, i));
    text.insert(text.size() - 1, "\\n" + type_text(n.type));
    s += fmt::format("  n{} [label={}{}];\n", i, text, stored ? ", style=rounded" : "");
  }
  for (int i = 0; i < int(g.size()); ++i) {
    if (is_index(g[i].type.kind)) continue;
    for (int k = 0; k < g[i].operands(); ++k)
      if (!w.in_line(i, k)) s += fmt::format("  n{} -> n{};\n", g[i].in[std::size_t(k)], i);
  }
  for (std::size_t i = 0; i < g.outputs.size(); ++i) {
    const std::string name = quoted(g.outputs[i].name);
    s += fmt::format("  out{} [label={}, shape=plaintext];\n  n{} -> out{};\n", i, name, g.outputs[i].node, i);
  }
  return s + "}\n";
}

}  // namespace attune
