// Floating-point operations of a graph, counting of scores only the pairs that a mask keeps.
#include <algorithm>
#include <map>

#include "lower.h"
#include "passes/block_map.h"
#include "passes/region.h"

namespace attune {

// Pairs that the masks above the product of scores keep, or all of them.
static double pairs(const Graph& g, int scores) {
  const Dims& d = g[scores].type.dims;
  Graph with = g;
  int keep = -1;
  while (g[scores].op == Op::mask) {
    const int p = g[scores].in[1];
    if (keep >= 0) with.nodes.push_back({Op::both, {Kind::predicate, {}}, {}, operand_list({keep, p}), 0});
    keep = keep >= 0 ? int(with.size()) - 1 : p;
    scores = g[scores].in[0];
  }
  if (keep < 0) return double(d.size());
  return double(kept_pairs(IndexAnalysis(with, keep, d[0], d[1]), d[0], d[1], d[2], d[3]));
}

// What of this op stands under the scores `id`, with only masks and elementwise ops between.
static void find_below(const Graph& g, int id, Op op, std::vector<int>& found) {
  const Node& n = g[id];
  if (n.op == op) {
    found.push_back(id);
    return;
  }
  if (n.op != Op::mask && (n.op < Op::add || n.op > Op::log)) return;
  for (int k : n.in)
    if (k >= 0) find_below(g, k, op, found);
}

double flops_of(const Graph& g) {
  double total = 0;
  std::map<int, double> kept;    // pairs of a product of scores: the most that any reader keeps
  std::map<int, double> weighs;  // pairs of a reduction
  for (int i = 0; i < int(g.size()); ++i) {
    const Node& n = g[i];
    if (n.op == Op::linear) total += 2.0 * double(n.type.dims.size()) * double(g[n.in[0]].type.dims[-1]);
    if (n.op != Op::reduce_rows && n.op != Op::row_value) continue;
    const double here = weighs[i] = pairs(g, n.in[0]);
    std::vector<int> below;
    find_below(g, n.in[0], Op::matmul, below);
    for (int m : below) kept[m] = std::max(kept[m], here);
  }
  for (int i = 0; i < int(g.size()); ++i) {
    const Node& n = g[i];
    if (n.op != Op::matmul) continue;
    std::vector<int> reductions;
    if (g[n.in[0]].type.kind == Kind::scores) find_below(g, n.in[0], Op::reduce_rows, reductions);
    double here = 0;
    for (int r : reductions) here = std::max(here, weighs[r]);
    if (reductions.empty()) here = kept.contains(i) ? kept[i] : double(n.type.dims.size());
    total += 2.0 * here * double(reductions.empty() ? g[n.in[0]].type.dims[3] : n.type.dims[3]);
  }
  return total;
}

double flops_of(const Region& r) {
  if (const auto* c = std::get_if<Contract>(&r.work)) {
    double columns = 0;
    for (const Segment& s : c->segments) columns += double(s.groups * s.width);
    return 2 * double(c->outer0 * c->outer1 * c->rows * c->depth) * columns;
  }
  const auto* s = std::get_if<Stream>(&r.work);
  if (!s) return 0;
  const double pairs = s->keep ? double(kept_pairs(IndexAnalysis(*s->keep->graph, s->keep->node, s->outer0, s->outer1), s->outer0, s->outer1, s->rows, s->cols)) : double(s->outer0 * s->outer1 * s->rows * s->cols);
  return 2 * pairs * double(s->depth + s->width);
}

}  // namespace attune
