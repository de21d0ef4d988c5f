#include "passes/region_builder.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

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

// cos and sin of one pair's angle per position. In long double and rounded once, so that the
// printed digits do not depend on the machine's math library.
static std::pair<double, double> turn(long double angle) { return {double(std::cos(angle)), double(std::sin(angle))}; }

int RegionBuilder::table(const Node& n) {
  const Rotation& r = n.attr.rotation;
  const long width = r.dims ? r.dims : n.type.dims[-1], positions = n.type.dims[-2];
  Buffer b = plain(Buffer::Kind::table, "", 2 * positions * width);
  b.positions = positions;
  b.width = width;
  b.neighbours = r.pairs == Pairs::interleaved;
  for (long i = 0; i < width / 2; ++i) {
    const long double theta = std::pow((long double)r.base, -2.0L * (long double)i / (long double)width);
    b.turns.push_back(turn(theta));
    b.start.push_back(turn(theta * (long double)r.offset));
  }
  for (const Buffer& o : p_.buffers) {
    if (o.kind == Buffer::Kind::table && o.positions == b.positions && o.turns == b.turns && o.start == b.start && o.neighbours == b.neighbours) return int(&o - p_.buffers.data());
  }
  b.name = free_name("angles");
  return buffer(b);
}

int RegionBuilder::rotated(ExpressionBuilder& e, const Node& n, int x) {
  const Rotation& r = n.attr.rotation;
  const int id = table(n);
  const long width = p_.buffers[std::size_t(id)].width, positions = p_.buffers[std::size_t(id)].positions;
  View cosines = aligned(dense(id, {2, {positions, width}}), region_rank), sines = cosines;
  sines.offset = positions * width;
  const int other = e.add({Fn::partner, Kind::real, 0, r.pairs == Pairs::interleaved ? 0 : width / 2, {x}});
  const int y = e.apply(Fn::add, Kind::real, {e.apply(Fn::mul, Kind::real, {x, e.tensor(cosines)}), e.apply(Fn::mul, Kind::real, {other, e.tensor(sines)})});
  if (width == n.type.dims[-1]) return y;
  const int inside = e.apply(Fn::less, Kind::predicate, {e.coordinate(3), e.constant(double(width), Kind::integer)});
  return e.apply(Fn::select, Kind::real, {inside, y, x});
}

Expression RegionBuilder::expression(const Graph& g, int id) {
  return index_expression_of(g, id, [this](int table) { return input(table); });
}

int RegionBuilder::index(ExpressionBuilder& e, int id) {
  return e.index(g_, id, [this](int table) { return input(table); });
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

Program RegionBuilder::finish() { return std::move(p_); }

}  // namespace attune
