#include "graph/algebra.h"

#include <cmath>

namespace attune {

Algebra::Algebra(const Graph& g, int node) : graph(g), weight(g[node].in[1]), rescale(g[node].in[2]), scale(g[node].in[3]), of_row(g[node].op == Op::row_value) {}

Interval Algebra::weight_of(const Interval& score, const Interval& row_max, const Coordinates& at) const {
  return number_at(graph, weight, at, {score, row_max, {}, {}});
}

double Algebra::rescale_of(double old_max, double row_max, const Coordinates& at) const {
  return number_at(graph, rescale, at, {{}, row_max, old_max, {}}).value;
}

Interval Algebra::scale_of(const Interval& row_sum, const Interval& row_max, const Coordinates& at) const {
  return number_at(graph, scale, at, {{}, row_max, {}, row_sum});
}

bool Algebra::row_max_cancels() const {
  if (!mentions(graph, weight, Op::row_max) && !mentions(graph, scale, Op::row_max)) return true;
  const double row[] = {0.3, -1.2, 2.1};  // any row will do: an algebra is analytic in the maximum
  const auto result = [&](double score, double reference) {
    double sum = 0;
    for (double s : row) sum += weight_of(s, reference, {}).value;
    return (of_row ? 1 : weight_of(score, reference, {}).value) * scale_of(sum, reference, {}).value;
  };
  for (double s : row)
    for (double shift : {0.7, 1.9})
      if (!(std::abs(result(s, 2.1) - result(s, 2.1 + shift)) <= 1e-9 * std::abs(result(s, 2.1)))) return false;
  return true;
}

double Algebra::row_max_of_nothing() const { return row_max_cancels() ? 0 : -HUGE_VAL; }

}  // namespace attune
