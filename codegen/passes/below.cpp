#include "passes/below.h"

#include <algorithm>

namespace attune {

// Partners of a rotation are whole vectors apart on every ISA if their distance is a multiple of this.
static constexpr long widest_vector = 16;

bool elementwise(Op op) { return op >= Op::add && op <= Op::negation; }

bool turns_vectors(const Node& rope) {
  const PairRotation& r = rope.attr.rotation;
  return r.pairs == Pairs::interleaved || r.count(rope.type.dims[-1]) % widest_vector == 0;
}

bool leads_to(const Graph& g, int id, int below) {
  if (id == below) return true;
  if (below < 0 || id < below) return false;
  return std::any_of(g[id].in.begin(), g[id].in.end(), [&](int k) { return k >= 0 && leads_to(g, k, below); });
}

int norm_below(const Graph& g, int id) {
  const Node& n = g[id];
  if (n.op == Op::inverse_norm) return id;
  if (!elementwise(n.op) && !(n.op == Op::rope && turns_vectors(n))) return -1;
  for (int k : n.in)
    if (k >= 0 && g[k].type.kind == Kind::tensor)
      if (int m = norm_below(g, k); m >= 0) return m;
  return -1;
}

bool sums_products(const Graph& g, int id, std::vector<int>* products) {
  const Node& n = g[id];
  if (n.op == Op::add) return g[n.in[0]].type == n.type && g[n.in[1]].type == n.type && sums_products(g, n.in[0], products) && sums_products(g, n.in[1], products);
  if (n.op != Op::matmul || g[n.in[0]].type.kind == Kind::scores) return false;
  if (products) products->push_back(id);
  return true;
}

int product_below(const Graph& g, int id) {
  const Node& n = g[id];
  if (sums_products(g, id)) return id;
  if (n.op != Op::mask && !elementwise(n.op)) return -1;
  for (int k : n.in) {
    if (k < 0 || is_index(g[k].type.kind) || g[k].type.dims != n.type.dims) continue;
    if (int m = product_below(g, k); m >= 0) return m;
  }
  return -1;
}

int reduction_below(const Graph& g, int id) {
  const Node& n = g[id];
  if (n.op == Op::reduce_rows) return id;
  if (n.op != Op::mul && n.op != Op::div) return -1;
  for (int k : {n.in[0], n.op == Op::mul ? n.in[1] : -1})
    if (k >= 0 && g[k].type == n.type)
      if (int r = reduction_below(g, k); r >= 0) return r;
  return -1;
}

}  // namespace attune
