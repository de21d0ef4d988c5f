#include "passes/region_builder.h"

#include <fmt/format.h>

#include <algorithm>

#include "graph/algebra.h"

namespace attune {

static std::vector<int> first_appearances(const Graph& g, Op op) {
  std::vector<int> r;
  for (int i = 0; i < int(g.size()); ++i)
    if (g[i].op == op) r.push_back(i);
  std::stable_sort(r.begin(), r.end(), [&](int a, int b) { return g[a].line < g[b].line; });
  return r;
}
std::vector<int> inputs_of(const Graph& g) { return first_appearances(g, Op::input); }
std::vector<int> weights_of(const Graph& g) { return first_appearances(g, Op::weight); }

RegionBuilder::RegionBuilder(const Graph& g) : g_(g) {
  for (int i : inputs_of(g)) input(i);
  for (std::size_t i = 0; i < g.outputs.size(); ++i) output(i);
}

int RegionBuilder::buffer(Buffer b) {
  if (b.kind != Buffer::Kind::scratch) {
    const auto it = named_.find({b.kind, b.name});
    if (it != named_.end()) return it->second;
  }
  const int id = int(p_.buffers.size());
  if (b.kind == Buffer::Kind::scratch) b.name = free_name(b.name);
  else named_[{b.kind, b.name}] = id;
  p_.buffers.push_back(std::move(b));
  return id;
}

std::string RegionBuilder::free_name(const std::string& wish) const {
  const auto taken = [&](const std::string& n) {
    for (const Buffer& b : p_.buffers)
      if (b.name == n) return true;
    for (const Node& node : g_.nodes)
      if (node.attr.name == n) return true;
    return n == "packed" || n == "local";
  };
  std::string n = wish;
  for (int i = 2; taken(n); ++i) n = fmt::format("{}_{}", wish, i);
  return n;
}

static Buffer plain(Buffer::Kind kind, std::string_view name, long floats) {
  Buffer b;
  b.kind = kind;
  b.name = name;
  b.floats = floats;
  return b;
}

View RegionBuilder::input(int id) {
  const Node& n = g_[id];
  Buffer b = plain(Buffer::Kind::input, n.attr.name, n.type.dims.size());
  b.integers = n.type.kind == Kind::integers;
  return dense(buffer(b), n.type.dims);
}

View RegionBuilder::output(std::size_t index) {
  const Output& o = g_.outputs[index];
  const Dims& dims = g_[o.node].type.dims;
  return dense(buffer(plain(Buffer::Kind::output, o.name, dims.size())), dims);
}

View RegionBuilder::weight(int id, bool transposed_copy) {
  const Node& n = g_[id];
  Buffer b = plain(Buffer::Kind::weight, n.attr.name, n.type.dims.size());
  b.transposed = transposed_copy;
  Dims dims = n.type.dims;
  if (transposed_copy) std::swap(dims[0], dims[1]);
  b.width = dims[-1];
  const View v = dense(buffer(b), dims);
  return transposed_copy ? transposed(v) : v;
}

View RegionBuilder::scratch(const Dims& dims, std::string name) { return dense(buffer(plain(Buffer::Kind::scratch, name, dims.size())), dims); }

View RegionBuilder::scratch_heads_inside(const Dims& d, std::string name) {
  const View memory = scratch({4, {d[0], d[2], d[1], d[3]}}, name);
  return {memory.buffer, 0, {memory.dims[0], memory.dims[2], memory.dims[1], memory.dims[3]}};
}

void RegionBuilder::add(std::string title, std::string comment, decltype(Region::work) work) { p_.regions.push_back({std::move(title), std::move(comment), std::move(work)}); }

void RegionBuilder::copy(const View& from, const View& to, std::string title) {
  ExpressionBuilder b;
  add(std::move(title), "copies into the layout that the next region wants", Pointwise{b.finish(b.tensor(aligned(from, region_rank))), aligned(to, region_rank)});
}

Expression RegionBuilder::expression(const Graph& g, int id) {
  return index_expression_of(g, id, [&](int look_up) { return looked_up(g, look_up); });
}

int RegionBuilder::index(ExpressionBuilder& e, int id) {
  return e.index(g_, id, [this](int look_up) { return looked_up(g_, look_up); });
}

RowAlgebra RegionBuilder::algebra(int id) {
  const Node& n = g_[id];
  RowAlgebra a{expression(g_, n.in[1]), expression(g_, n.in[2]), {}};
  const Expression last = expression(g_, n.in[3]);
  a.peak_cancels = Algebra(g_, id).row_max_cancels();
  a.tracks_peak = a.weight.uses(Fn::peak) || last.uses(Fn::peak);
  if (n.op == Op::reduce_rows) a.scale = last;
  return a;
}

RowValue RegionBuilder::row_value(int id) { return {expression(g_, g_[id].in[3]), Algebra(g_, id).row_max_of_nothing()}; }

InverseNorm RegionBuilder::norm(int id) {
  const Node& n = g_[id];
  const double eps = n.attr.value;
  if (n.attr.count == long(Norm::rms)) return {.factor = 1 / double(g_[n.in[0]].type.dims[-1]), .added = eps};
  return {.least = eps * eps};
}

Program RegionBuilder::finish() { return std::move(p_); }

}  // namespace attune
