// Learned tables by indices that are no sums of coordinates: a region that looks each element up once, so that
// the kernel reads a tensor.
#include <attune/range.h>

#include <algorithm>

#include "graph/expression.h"
#include "graph/verify.h"
#include "passes/region_builder.h"

namespace attune {
namespace {

// Whether an expression depends on the places of query and key by their distance alone.
bool of_distance(const Graph& g, int node) {
  const Node& n = g[node];
  if (n.op == Op::q_index || n.op == Op::kv_index) return false;
  if (n.op == Op::sub) {
    const Op a = g[n.in[0]].op, b = g[n.in[1]].op;
    if ((a == Op::q_index && b == Op::kv_index) || (a == Op::kv_index && b == Op::q_index)) return true;
  }
  for (int k : n.in)
    if (k >= 0 && !of_distance(g, k)) return false;
  return true;
}

bool reads(const Graph& g, int node, int look_up) {
  return node == look_up || std::any_of(g[node].in.begin(), g[node].in.end(), [&](int k) { return k >= 0 && is_index(g[k].type.kind) && reads(g, k, look_up); });
}

}  // namespace

// The extents of all scores for whose pairs it is read.
Dims RegionBuilder::reached_by(int look_up) const {
  Dims reach{max_rank, {1, 1, 1, 1}};
  for (const Node& n : g_.nodes)
    if (const Dims* scores = scores_below(g_, n))
      if (std::any_of(n.in.begin(), n.in.end(), [&](int k) { return k >= 0 && is_index(g_[k].type.kind) && reads(g_, k, look_up); }))
        for (int d = 0; d < max_rank; ++d) reach[d] = std::max(reach[d], (*scores)[d]);
  return reach;
}

View RegionBuilder::looked_up(const Graph& g, int id) {
  const Node& n = g[id];
  const bool is_learned = g[n.in[0]].op == Op::weight;
  if (std::optional<View> v = attune::looked_up(g, id)) {
    v->buffer = (is_learned ? weight(n.in[0]) : input(n.in[0])).buffer;
    return *v;
  }
  const bool of_call = std::any_of(n.in.begin() + 1, n.in.end(), [&](int k) { return k >= 0 && mentions(g, k, Op::look_up); });
  if (is_learned && !of_call) return spread(id);
  reject(g, id, "an index of a table is more than a sum of coordinates and their multiples; lay the table out so that it is one; of one by learned<..>, which comes with the weights, any index will do that reads no table itself");
}

View RegionBuilder::spread(int id) {
  if (const auto known = spread_.find(id); known != spread_.end()) return known->second;
  const Node& n = g_[id];
  const Dims reach = reached_by(id), &table = g_[n.in[0]].type.dims;
  Spread s;
  s.weight = g_[n.in[0]].attr.name;
  ExpressionBuilder e;
  int at = e.constant(0, Kind::integer);
  for (int d = 0; d < table.rank; ++d) {
    const int index = n.in[std::size_t(d + 1)];
    int term = this->index(e, index);
    const Range r = range_of(g_, index, reach);
    const auto whole = [&](long x) { return e.constant(double(x), Kind::integer); };
    if (r.lo < 0) term = e.apply(Fn::max, Kind::integer, {term, whole(0)});  // where several scores read it, pairs of none
    if (r.hi >= table[d]) term = e.apply(Fn::min, Kind::integer, {term, whole(table[d] - 1)});
    at = d == 0 ? term : e.apply(Fn::add, Kind::integer, {e.apply(Fn::mul, Kind::integer, {at, whole(table[d])}), term});
  }
  s.at = e.finish(at);
  const bool by_distance = of_distance(g_, id);
  const auto extent = [&](Op leaf, int d) { return mentions(g_, id, leaf) ? reach[d] : 1; };
  Dims dims{max_rank, {extent(Op::batch_index, 0), extent(Op::head_index, 1), extent(Op::q_index, 2), extent(Op::kv_index, 3)}};
  if (by_distance) {  // of the last query, from keys before the first to the last
    dims[2] = 1;
    dims[3] = reach[2] + reach[3] - 1;
    s.first[2] = reach[2] - 1;
  }
  Buffer b;
  b.kind = Buffer::Kind::table;
  b.name = free_name("spread_" + s.weight);
  b.floats = dims.size();
  s.out = dense(buffer(std::move(b)), dims);
  View v = s.out;
  if (by_distance) {
    v.offset += reach[2] - 1;
    v.dims[2] = {{reach[2], -1}};
    v.dims[3] = {{reach[3], 1}};
  }
  add("spread_once", "a learned table by its indices, made by pack_weights", std::move(s));
  return spread_[id] = v;
}

}  // namespace attune
