// A row reduction's algebra as functions: what weight, rescale and scale are at given scores.
#pragma once
#include <vector>

#include "graph/expression.h"

namespace attune {

// A view of one reduce_rows node; the graph outlives it.
struct Algebra {
  const Graph& graph;
  int weight, rescale, scale;  // nodes

  Algebra(const Graph&, int reduce_rows_node);
  Interval weight_of(const Interval& score, const Interval& row_max, const Coordinates&) const;
  double rescale_of(double old_max, double row_max, const Coordinates&) const;
  Interval scale_of(const Interval& row_sum, const Interval& row_max, const Coordinates&) const;
  // Whether the row_max that the weights are taken against cancels in weight * scale, as it does
  // in softmax: then an error in it is none in the result.
  bool row_max_cancels() const;
};

}  // namespace attune
