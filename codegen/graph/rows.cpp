// The ops that know rows: norms, mask and row reductions.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/algebra.h"
#include "graph/value.h"

namespace attune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

Value inverse_norm(const Node& n, const Value& x) {
  const std::size_t columns = std::size_t(x.dims[-1]);
  const double eps = n.attr.value;
  const auto of_sum = [&](double s) { return n.attr.count == long(Norm::rms) ? 1 / std::sqrt(s / double(columns) + eps) : 1 / std::max(std::sqrt(s), eps); };
  Value r{.dims = n.type.dims};
  for (std::size_t begin = 0; begin < x.v.size(); begin += columns) {
    double sum = 0, error = 0;
    for (std::size_t i = begin; i < begin + columns; ++i) {
      sum += x.v[i] * x.v[i];
      error += (2 * std::abs(x.v[i]) + x.error_at(i)) * x.error_at(i);
    }
    // Squares are summed in double, so that only the result is rounded.
    error += sum * double(columns) * 0x1p-50;
    const double value = of_sum(sum);
    r.v.push_back(value);
    r.carried.push_back(of_sum(std::max(0.0, sum - error)) - of_sum(sum + error) + 2 * f32_unit * value + f32_least_normal);
  }
  return r;
}

Value mask(const Graph& g, const Node& n, const Value& scores, const Tables& tables) {
  Value r = scores;
  for_each_element(r.dims, [&](Coordinates at, std::size_t i) {
    at.tables = &tables;
    if (holds_at(g, n.in[1], at)) return;
    r.v[i] = -infinity;
    r.removed[i] = 1;
  });
  return r;
}

Value reduce_rows(const Graph& g, int node, const Value& s, const Tables& tables) {
  const Algebra algebra(g, node);
  const bool row_max_cancels = algebra.row_max_cancels();
  const std::size_t columns = std::size_t(s.dims[-1]);
  const bool exact = s.carried.empty();
  Value r{s.dims, std::vector<double>(s.v.size()), {}, std::vector<double>(s.v.size()), std::vector<unsigned char>(s.v.size())};
  if (!exact) r.carried.resize(s.v.size());

  for (std::size_t begin = 0; begin < s.v.size(); begin += columns) {
    const long row = long(begin / columns);
    const auto at = [&](std::size_t j) { return Coordinates{row / (s.dims[1] * s.dims[2]), row / s.dims[2] % s.dims[1], row % s.dims[2], long(j), &tables}; };
    std::vector<std::size_t> kept;
    for (std::size_t j = 0; j < columns; ++j) {
      if (s.v[begin + j] != -infinity)
        kept.push_back(j);
      else
        r.removed[begin + j] = 1;
    }
    if (kept.empty()) continue;
    Interval row_max = -infinity;
    double rounding = 0;  // 16u S of the row
    for (std::size_t j : kept) {
      const std::size_t i = begin + j;
      row_max = apply(Op::max, row_max, {s.v[i], row_max_cancels ? 0 : s.carried_at(i)});
      rounding = std::max(rounding, s.rounding[i]);
    }

    // The score's own rounding may change a weight by as much, relatively. Where an algebra is
    // steeper than exp (a cut at 0, say), `beyond` is what it adds to that.
    std::vector<Interval> weights;
    std::vector<double> beyond;
    Interval sum;
    double sum_beyond = 0;
    for (std::size_t j : kept) {
      const std::size_t i = begin + j;
      const Interval w = algebra.weight_of({s.v[i], s.carried_at(i)}, row_max, at(j));
      const double e = algebra.weight_of({s.v[i], s.rounding[i]}, row_max.value, at(j)).error() - std::abs(w.value) * std::expm1(s.rounding[i]);
      weights.push_back(w);
      beyond.push_back(e > 0 ? e : 0);
      sum = apply(Op::add, sum, w);
      sum_beyond += beyond.back();
    }
    const Interval scale = algebra.scale_of(sum, row_max, at(0));
    const double scale_beyond = sum_beyond > 0 ? algebra.scale_of({sum.value, sum_beyond}, row_max.value, at(0)).error() : 0;
    for (std::size_t n = 0; n < kept.size(); ++n) {
      const std::size_t i = begin + kept[n];
      const Interval p = apply(Op::mul, weights[n], scale);
      r.v[i] = p.value;
      r.rounding[i] = (16 * f32_unit + rounding) * std::abs(p.value) + f32_least_normal * (std::abs(scale.value) + 1) + beyond[n] * (std::abs(scale.value) + scale_beyond) + std::abs(weights[n].value) * scale_beyond;
      r.removed[i] = s.removed_at(i) && p.value == 0;
      if (!exact) r.carried[i] = p.error();
    }
  }
  return r;
}

}  // namespace attune
