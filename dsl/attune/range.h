// Where an integer index expression may lie over all scores of a shape: what a table's indices are
// checked by.
#pragma once
#include <algorithm>

#include "attune/graph.h"

namespace attune {

struct Range {
  long lo = 0, hi = 0;
};

constexpr long floored(long a, long b) { return a / b - (a % b != 0 && (a < 0) != (b < 0)); }

// Of kind integer; what a table holds may be any int32. Scores of no extent count as one. Of the angles
// of a rope, `scores` is [batch, heads, seq, pairs].
constexpr Range range_of(const Graph& g, int node, const Dims& scores) {
  const Node& n = g[node];
  const auto up_to = [&](int dim) { return Range{0, std::max(0l, scores[dim] - 1)}; };
  switch (n.op) {
    case Op::constant:
      return {n.attr.count, n.attr.count};
    case Op::batch_index:
      return up_to(0);
    case Op::head_index:
      return up_to(1);
    case Op::q_index:
    case Op::seq_index:
      return up_to(2);
    case Op::kv_index:
    case Op::pair_index:
      return up_to(3);
    case Op::add:
    case Op::sub:
    case Op::mul:
    case Op::div:
    case Op::mod:
    case Op::min:
    case Op::max:
      break;
    default:
      return {-(1l << 31), (1l << 31) - 1};
  }
  const Range x = range_of(g, n.in[0], scores), y = range_of(g, n.in[1], scores);
  switch (n.op) {
    case Op::add:
      return {x.lo + y.lo, x.hi + y.hi};
    case Op::sub:
      return {x.lo - y.hi, x.hi - y.lo};
    case Op::mul: {
      const long c[] = {x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi};
      return {std::min({c[0], c[1], c[2], c[3]}), std::max({c[0], c[1], c[2], c[3]})};
    }
    case Op::div:
      return {floored(x.lo, y.lo), floored(x.hi, y.lo)};  // by a positive constant, as is the next
    case Op::mod: {
      const long first = floored(x.lo, y.lo) * y.lo;
      return x.hi - first < y.lo ? Range{x.lo - first, x.hi - first} : Range{0, y.lo - 1};
    }
    case Op::min:
      return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    default:
      return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
  }
}

// The coordinates of the angles of a rope: [batch, heads, seq, pairs].
constexpr Dims angles_of(const Node& rope) {
  Dims d = rope.type.dims;
  d[-1] = rope.attr.rotation.count(d[-1]);
  return d;
}

// A look-up below the index expression `node` that may leave its table.
struct Outside {
  int node = -1;  // the look_up, or -1: none
  int dim = 0;
  long index = 0;
};
constexpr Outside outside(const Graph& g, int node, const Dims& scores) {
  const Node& n = g[node];
  for (int i = n.op == Op::look_up ? 1 : 0; i < n.operands(); ++i) {
    if (const Outside below = outside(g, n.in[std::size_t(i)], scores); below.node >= 0) return below;
    if (n.op != Op::look_up) continue;
    const Range r = range_of(g, n.in[std::size_t(i)], scores);
    if (r.lo < 0) return {node, i - 1, r.lo};
    if (r.hi >= g[n.in[0]].type.dims[i - 1]) return {node, i - 1, r.hi};
  }
  return {};
}

}  // namespace attune
