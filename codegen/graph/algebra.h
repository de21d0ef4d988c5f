// A row reduction's algebra as functions: what weight, rescale and scale are at given scores.
#pragma once
#include <vector>

#include "graph/expression.h"

namespace attune {

// A view of one reduce_rows or row_value node, whose value stands for the scale then; the graph outlives it.
struct Algebra {
  const Graph& graph;
  int weight, rescale, scale;  // nodes
  bool of_row;                 // a row_value

  Algebra(const Graph&, int node);
  Interval weight_of(const Interval& score, const Interval& row_max, const Coordinates&) const;
  double rescale_of(double old_max, double row_max, const Coordinates&) const;
  Interval scale_of(const Interval& row_sum, const Interval& row_max, const Coordinates&) const;
  // Whether the row_max that the weights are taken against cancels in the result, weight * scale or the
  // row's value, as it does in softmax and logsumexp: then an error in it is none in the result.
  bool row_max_cancels() const;
  // What a row that keeps nothing is said to have as row_max, beside a sum of 0: any will do if it
  // cancels.
  double row_max_of_nothing() const;
};

}  // namespace attune
