// The value of an index expression at one score, in double precision.
#pragma once
#include <attune/graph.h>

#include <map>
#include <vector>

namespace attune {

// What the tables hold that look-ups read, by node, dense and row-major.
using Tables = std::map<int, const std::vector<double>*>;

// Where a score stands, or an angle of a rope (batch, -, row, pair), each counted from 0, and what tables
// hold there; without tables, a look-up is 1.
struct Coordinates {
  long batch = 0, head = 0, q = 0, kv = 0;
  const Tables* tables = nullptr;
};

// A number and the interval in which an f32 computation of it may end: lo <= value <= hi.
struct Interval {
  double lo = 0, value = 0, hi = 0;
  Interval() = default;
  Interval(double exact) : lo(exact), value(exact), hi(exact) {}
  Interval(double v, double error) : lo(v - error), value(v), hi(v + error) {}
  Interval(double lo_, double v, double hi_) : lo(lo_), value(v), hi(hi_) {}
  // The larger distance to an end; infinite where the interval lost its bounds.
  double error() const;
};

// `op` (add .. log) on every pair of points of the two intervals. NaN in an operand gives NaN,
// in min and max too. `b` is not read where op takes one operand.
Interval apply(Op op, const Interval& a, const Interval& b = {});

// What a row reduction carries, for the leaves of its algebra.
struct RowState {
  Interval score, row_max, old_max, row_sum;
};

// `node` is of kind integer. `/` and `%` floor.
long integer_at(const Graph&, int node, const Coordinates&);
// `node` is of kind integer or real.
Interval number_at(const Graph&, int node, const Coordinates&, const RowState& = {});
// `node` is of kind predicate.
bool holds_at(const Graph&, int node, const Coordinates&, const RowState& = {});

// Whether the expression below `node` has a leaf `leaf`.
bool mentions(const Graph&, int node, Op leaf);

}  // namespace attune
