#include "fuzz/builder.h"

#include <attune/rules.h>
#include <fmt/format.h>

#include <algorithm>
#include <set>
#include <stdexcept>

#include "graph/print.h"
#include "passes/rewrite.h"

namespace attune::fuzz {

namespace {

// Graphs hold views of names, so names live as long as the program.
std::string_view kept(const std::string& name) {
  static std::set<std::string> names;
  return *names.insert(name).first;
}

Kind kind_of_index(Op op, const std::vector<Type>& in) {
  if (op >= Op::lt && op <= Op::negation) return Kind::predicate;
  if (op == Op::tanh || op == Op::exp || op == Op::log) return Kind::real;
  return std::any_of(in.begin(), in.end(), [](const Type& t) { return t.kind == Kind::real; }) ? Kind::real : Kind::integer;
}

}  // namespace

int Builder::add(Node n) {
  for (int i = 0; i < int(g_.size()); ++i)
    if (g_[i].same(n)) return i;
  n.line = int(g_.size()) + 1;
  g_.nodes.push_back(n);
  return int(g_.size()) - 1;
}

int Builder::op(Op op, std::vector<int> operands, Attr attr) {
  Node n{op, {}, attr, operand_list({}), 0};
  std::copy(operands.begin(), operands.end(), n.in.begin());
  std::vector<Type> in;
  for (int k : operands) in.push_back(g_[k].type);
  if ((is_arithmetic(op) || op >= Op::lt) && std::all_of(in.begin(), in.end(), [](const Type& t) { return is_index(t.kind); })) {
    n.type.kind = kind_of_index(op, in);
    return add(n);
  }
  in.resize(std::size_t(max_operands));
  const Inferred type = infer(op, attr, in.data(), int(operands.size()));
  if (type.rule != Rule::ok) throw std::logic_error(fmt::format("fuzz: {} of {} and {} breaks rule {}", name_of(op), type_text(in[0]), type_text(in[1]), int(type.rule)));
  n.type = type.type;
  return add(n);
}

int Builder::input(const Dims& dims) {
  Attr a;
  a.name = kept(fmt::format("x{}", size()));
  return add({Op::input, {Kind::tensor, dims}, a, operand_list({}), 0});
}

int Builder::weight(const Dims& dims) {
  Attr a;
  a.name = kept(fmt::format("w{}", size()));
  return add({Op::weight, {Kind::tensor, dims}, a, operand_list({}), 0});
}

int Builder::leaf(Op op) {
  const bool state = op >= Op::score;
  return add({op, {state ? Kind::real : Kind::integer, {}}, {}, operand_list({}), 0});
}

int Builder::integer(long v) {
  Attr a;
  a.count = v;
  return add({Op::constant, {Kind::integer, {}}, a, operand_list({}), 0});
}

int Builder::real(double v) {
  Attr a;
  a.value = v;
  return add({Op::constant, {Kind::real, {}}, a, operand_list({}), 0});
}

int Builder::look_up(Kind element, const Dims& dims, std::vector<int> at) {
  Attr a;
  a.name = kept(fmt::format("t{}", size()));
  at.insert(at.begin(), add({Op::input, {element == Kind::integer ? Kind::integers : Kind::tensor, dims}, a, operand_list({}), 0}));
  Node n{Op::look_up, {element, {}}, {}, {}, 0};
  n.in = operand_list({});
  std::copy(at.begin(), at.end(), n.in.begin());
  return add(n);
}

void Builder::output(int node) { g_.outputs.push_back({kept(fmt::format("out{}", g_.outputs.size())), node}); }

Graph Builder::finish() const {
  return Rewriter::apply(g_, [](Rewriter& r, const Node& n) { return r.add(n); });
}

}  // namespace attune::fuzz
