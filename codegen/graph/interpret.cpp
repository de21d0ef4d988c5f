#include "graph/interpret.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <stdexcept>
#include <utility>

#include "graph/print.h"
#include "graph/value.h"

namespace attune {

namespace {

Value bound_to(const Node& n, const Bindings& bindings) {
  const auto it = bindings.find(n.attr.name);
  if (it == bindings.end()) throw std::invalid_argument(fmt::format("{} '{}': expected {} values, found none", name_of(n.op), n.attr.name, n.type.dims.size()));
  if (long(it->second.size()) != n.type.dims.size())
    throw std::invalid_argument(fmt::format("{} '{}': expected {} values, found {}", name_of(n.op), n.attr.name, n.type.dims.size(), it->second.size()));
  Value r{.dims = n.type.dims};
  for (float f : it->second) r.v.push_back(std::fpclassify(f) == FP_SUBNORMAL ? 0 : double(f));
  return r;
}

// The elements of x in another place or number; `source` gives where each comes from.
template <class F>
Value moved(const Dims& dims, const Value& x, F source) {
  Value r{.dims = dims};
  const bool exact = x.carried.empty() && x.rounding.empty();
  for_each_element(dims, [&](const Coordinates& at, std::size_t) {
    const std::size_t i = std::size_t(source(at));
    r.v.push_back(x.v[i]);
    if (!exact) r.carried.push_back(x.error_at(i));
  });
  return r;
}

Value split_heads(const Node& n, const Value& x) {
  const long heads = n.type.dims[1], seq = n.type.dims[2], head_dim = n.type.dims[3];
  return moved(n.type.dims, x, [=](const Coordinates& at) { return ((at.batch * seq + at.q) * heads + at.head) * head_dim + at.kv; });
}

Value merge_heads(const Node& n, const Value& x) {  // the result has coordinates (., batch, seq, feature)
  const long heads = x.dims[1], seq = x.dims[2], head_dim = x.dims[3];
  return moved(n.type.dims, x, [=](const Coordinates& at) { return ((at.head * heads + at.kv / head_dim) * seq + at.q) * head_dim + at.kv % head_dim; });
}

Value repeat_heads(const Node& n, const Value& x) {
  const long heads = x.dims[1], seq = x.dims[2], head_dim = x.dims[3], times = n.attr.count;
  return moved(n.type.dims, x, [=](const Coordinates& at) { return ((at.batch * heads + at.head / times) * seq + at.q) * head_dim + at.kv; });
}

Value transpose(const Node& n, const Value& x) {
  const long heads = n.type.dims.rank > 2 ? n.type.dims[-3] : 1, rows = n.type.dims[-2], columns = n.type.dims[-1];
  return moved(n.type.dims, x, [=](const Coordinates& at) { return ((at.batch * heads + at.head) * columns + at.kv) * rows + at.q; });
}

Value features(const Node& n, const Value& x) {
  const long heads = n.type.dims.rank > 2 ? n.type.dims[-3] : 1, rows = n.type.dims.rank > 1 ? n.type.dims[-2] : 1, columns = x.dims[-1], from = n.attr.from;
  return moved(n.type.dims, x, [=](const Coordinates& at) { return ((at.batch * heads + at.head) * rows + at.q) * columns + from + at.kv; });
}

Value reshaped(const Node& n, const Value& x) {
  Value r{.dims = n.type.dims, .v = x.v};
  if (!x.carried.empty() || !x.rounding.empty())
    for (std::size_t i = 0; i < x.v.size(); ++i) r.carried.push_back(x.error_at(i));
  return r;
}

// The tables below the index expressions that `node` takes.
void find_tables(const Graph& g, int node, const std::vector<Value>& values, Tables& found) {
  for (int k : g[node].in) {
    if (k < 0 || !is_index(g[k].type.kind)) continue;
    if (g[k].op == Op::look_up) found[g[k].in[0]] = &values[std::size_t(g[k].in[0])].v;
    find_tables(g, k, values, found);
  }
}

Value evaluate(const Graph& g, int node, const std::vector<Value>& values, const Bindings& bindings) {
  const Node& n = g[node];
  const auto operand = [&](std::size_t i) -> const Value* {
    return n.in[i] < 0 || is_index(g[n.in[i]].type.kind) ? nullptr : &values[std::size_t(n.in[i])];
  };
  const Value *a = operand(0), *b = operand(1), *c = operand(2);
  Tables tables;
  find_tables(g, node, values, tables);
  switch (n.op) {
    case Op::input:
    case Op::weight: return bound_to(n, bindings);
    case Op::linear: return linear(n, *a, *b, c);
    case Op::split_heads: return split_heads(n, *a);
    case Op::merge_heads: return merge_heads(n, *a);
    case Op::repeat_heads: return repeat_heads(n, *a);
    case Op::transpose: return transpose(n, *a);
    case Op::unsqueeze: return reshaped(n, *a);
    case Op::features: return features(n, *a);
    case Op::rope: return rope(g, node, *a, operand(3), tables);
    case Op::inverse_norm: return inverse_norm(n, *a);
    case Op::matmul: return g[n.in[0]].type.kind == Kind::scores ? weighted_sum(n, *a, *b) : score_product(n, *a, *b);
    case Op::mask: return mask(g, n, *a, tables);
    case Op::reduce_rows: return reduce_rows(g, node, *a, tables);
    case Op::row_value: return row_value(g, node, *a, tables);
    default: return elementwise(g, n, a, b, tables);
  }
}

// Bounds mean nothing where the value is not finite, and know nothing where they are NaN.
void settle(Value& x) {
  for (std::vector<double>* e : {&x.carried, &x.rounding})
    for (std::size_t i = 0; i < e->size(); ++i) {
      if (!std::isfinite(x.v[i]))
        (*e)[i] = 0;
      else if (std::isnan((*e)[i]))
        (*e)[i] = std::numeric_limits<double>::infinity();
    }
}

Array array_of(const Value& x) {
  Array r{x.dims, x.v, std::vector<double>(x.v.size()), x.removed};
  for (std::size_t i = 0; i < r.v.size(); ++i) {
    if (!std::isfinite(r.v[i]) || x.removed_at(i)) continue;
    r.bound[i] = x.error_at(i);
  }
  return r;
}

std::vector<Array> interpret(const Graph& g, const std::vector<int>& roots, const Bindings& bindings) {
  for (int root : roots)
    if (is_index(g[root].type.kind)) throw std::invalid_argument(fmt::format("%{} is the index expression {}: it has a value only at a score", root, expression_text(g, root)));
  std::vector<int> last_user(g.size(), -1);  // -1: not needed
  for (int root : roots) last_user[std::size_t(root)] = int(g.size());
  for (int i = int(g.size()); i-- > 0;)
    if (last_user[std::size_t(i)] >= 0) {
      const int user = is_index(g[i].type.kind) ? last_user[std::size_t(i)] : i;  // what an expression reads is read by its user
      for (int in : g[i].in)
        if (in >= 0) last_user[std::size_t(in)] = std::max(last_user[std::size_t(in)], user);
    }

  std::vector<Value> values(g.size());
  for (int i = 0; i < int(g.size()); ++i) {
    if (last_user[std::size_t(i)] < 0 || is_index(g[i].type.kind)) continue;
    Value& value = values[std::size_t(i)] = evaluate(g, i, values, bindings);
    settle(value);
    for (int in = 0; in < i; ++in)
      if (last_user[std::size_t(in)] == i) values[std::size_t(in)] = {};
  }
  std::vector<Array> r;
  for (int root : roots) r.push_back(array_of(values[std::size_t(root)]));
  return r;
}

}  // namespace

std::vector<Array> interpret_outputs(const Graph& g, const Bindings& bindings) {
  std::vector<int> roots;
  for (const Output& o : g.outputs) roots.push_back(o.node);
  return interpret(g, roots, bindings);
}

Array interpret_node(const Graph& g, int node, const Bindings& bindings) {
  return std::move(interpret(g, {node}, bindings).front());
}

}  // namespace attune
