// Rotary embedding: a region that makes the angles' cosines and sines, and the expression that turns by
// them. Which position a pair takes is decided here, so that sections of pairs cost nothing.
#include "graph/rotary.h"

#include <algorithm>

#include "graph/expression.h"
#include "passes/region_builder.h"

namespace attune {

// The index expression `node` at one pair, as a node behind those of `g`.
static int at_pair(Graph& g, int node, long pair) {
  Node n = g[node];
  const bool fixed = !mentions(g, node, Op::batch_index) && !mentions(g, node, Op::seq_index) && !mentions(g, node, Op::look_up);
  if (fixed) {
    n = {Op::constant, n.type, {}, operand_list({}), n.line};
    n.attr.count = integer_at(g, node, {.kv = pair});
  } else {
    for (int& k : n.in)
      if (k >= 0 && is_index(g[k].type.kind)) k = at_pair(g, k, pair);
  }
  g.nodes.push_back(n);
  return int(g.size()) - 1;
}

View RegionBuilder::angles(int rope) {
  const Node& n = g_[rope];
  const Dims& x = n.type.dims;
  const long pairs = n.attr.rotation.count(x[-1]);
  Angles a;
  a.frequencies = frequencies_of(g_, rope);
  for (long pair = 0; pair < pairs; ++pair) {
    Graph with = g_;
    const int at = at_pair(with, n.in[2], pair);
    const Expression position = expression(with, at);
    const auto known = std::find(a.positions.begin(), a.positions.end(), position);
    a.place.push_back(known - a.positions.begin());
    if (known == a.positions.end()) a.positions.push_back(position);
  }
  if (n.in[3] >= 0) a.divisors = g_[n.in[3]].attr.name;
  a.amplitude = n.attr.rotation.amplitude;
  a.neighbours = n.attr.rotation.pairs == Pairs::interleaved;
  const long batches = mentions(g_, n.in[2], Op::batch_index) ? x[0] : 1;
  for (const Region& r : p_.regions)
    if (const auto* other = std::get_if<Angles>(&r.work)) {
      a.out = other->out;
      if (a == *other && extent_of(a.out.dims[0]) == batches && extent_of(a.out.dims[2]) == x[2]) return a.out;
    }
  Buffer b;
  b.kind = mentions(g_, n.in[2], Op::look_up) ? Buffer::Kind::scratch : Buffer::Kind::table;
  b.name = free_name("angles");
  b.floats = 2 * batches * x[2] * 2 * pairs;
  const bool once = b.kind == Buffer::Kind::table;
  if (n.in[3] >= 0 && !once) weight(n.in[3]);  // pack_weights keeps them for the calls
  a.out = dense(buffer(std::move(b)), {4, {batches, 1, x[2], 2 * pairs}});
  const View out = a.out;
  add(once ? "angles_once" : "angles", once ? "cosines and sines of angles, made by pack_weights" : "cosines and sines of the angles of this call's positions", std::move(a));
  return out;
}

int RegionBuilder::rotated(ExpressionBuilder& e, int rope, int x) {
  const Node& n = g_[rope];
  const View cosines = angles(rope);
  View sines = cosines;
  const long width = 2 * n.attr.rotation.count(n.type.dims[-1]);
  sines.offset = p_.buffers[std::size_t(cosines.buffer)].floats / 2;
  const int other = e.add({Fn::partner, Kind::real, 0, n.attr.rotation.pairs == Pairs::interleaved ? 0 : width / 2, {x}});
  const int y = e.apply(Fn::add, Kind::real, {e.apply(Fn::mul, Kind::real, {x, e.tensor(cosines)}), e.apply(Fn::mul, Kind::real, {other, e.tensor(sines)})});
  if (width == n.type.dims[-1]) return y;
  const int inside = e.apply(Fn::less, Kind::predicate, {e.coordinate(3), e.constant(double(width), Kind::integer)});
  return e.apply(Fn::select, Kind::real, {inside, y, x});
}

}  // namespace attune
