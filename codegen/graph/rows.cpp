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

namespace {

// One row's reduction, before anything is scaled.
struct Reduced {
  std::vector<std::size_t> kept;  // columns
  Interval row_max = -infinity, sum;
  std::vector<Interval> weights;  // of those kept, as is the next
  // The score's own rounding may change a weight by as much, relatively. Where an algebra is
  // steeper than exp (a cut at 0, say), `beyond` is what it adds to that.
  std::vector<double> beyond;
  double rounding = 0;  // 16u S of the row
  double sum_beyond = 0;
};

Reduced reduced(const Algebra& algebra, bool row_max_cancels, const Value& s, std::size_t begin, const Coordinates& row) {
  Reduced r;
  const std::size_t columns = std::size_t(s.dims[-1]);
  for (std::size_t j = 0; j < columns; ++j)
    if (s.v[begin + j] != -infinity) r.kept.push_back(j);
  for (std::size_t j : r.kept) {
    const std::size_t i = begin + j;
    r.row_max = apply(Op::max, r.row_max, {s.v[i], row_max_cancels ? 0 : s.carried_at(i)});
    r.rounding = std::max(r.rounding, s.rounding[i]);
  }
  for (std::size_t j : r.kept) {
    const std::size_t i = begin + j;
    const Interval w = algebra.weight_of({s.v[i], s.carried_at(i)}, r.row_max, row);
    const double e = algebra.weight_of({s.v[i], s.rounding[i]}, r.row_max.value, row).error() - std::abs(w.value) * std::expm1(s.rounding[i]);
    r.weights.push_back(w);
    r.beyond.push_back(e > 0 ? e : 0);
    r.sum = apply(Op::add, r.sum, w);
    r.sum_beyond += r.beyond.back();
  }
  return r;
}

// f(offset of its first score, where it is) for every row.
template <class F>
void for_each_row(const Value& s, const Tables& tables, F f) {
  const std::size_t columns = std::size_t(s.dims[-1]);
  for (long row = 0; row < s.dims[0] * s.dims[1] * s.dims[2]; ++row) f(std::size_t(row) * columns, Coordinates{row / (s.dims[1] * s.dims[2]), row / s.dims[2] % s.dims[1], row % s.dims[2], 0, &tables});
}

}  // namespace

Value reduce_rows(const Graph& g, int node, const Value& s, const Tables& tables) {
  const Algebra algebra(g, node);
  const bool row_max_cancels = algebra.row_max_cancels();
  const bool exact = s.carried.empty();
  Value r{s.dims, std::vector<double>(s.v.size()), {}, std::vector<double>(s.v.size()), std::vector<unsigned char>(s.v.size())};
  if (!exact) r.carried.resize(s.v.size());
  for (std::size_t i = 0; i < s.v.size(); ++i) r.removed[i] = s.v[i] == -infinity;
  for_each_row(s, tables, [&](std::size_t begin, const Coordinates& row) {
    const Reduced x = reduced(algebra, row_max_cancels, s, begin, row);
    if (x.kept.empty()) return;
    const Interval scale = algebra.scale_of(x.sum, x.row_max, row);
    const double scale_beyond = x.sum_beyond > 0 ? algebra.scale_of({x.sum.value, x.sum_beyond}, x.row_max.value, row).error() : 0;
    for (std::size_t n = 0; n < x.kept.size(); ++n) {
      const std::size_t i = begin + x.kept[n];
      const Interval p = apply(Op::mul, x.weights[n], scale);
      r.v[i] = p.value;
      r.rounding[i] = (16 * f32_unit + x.rounding) * std::abs(p.value) + f32_least_normal * (std::abs(scale.value) + 1) + x.beyond[n] * (std::abs(scale.value) + scale_beyond) + std::abs(x.weights[n].value) * scale_beyond;
      r.removed[i] = s.removed_at(i) && p.value == 0;
      if (!exact) r.carried[i] = p.error();
    }
  });
  return r;
}

// For logsumexp the bound is 16u (1 + S + |value|), and what the operands' bounds bring about.
Value row_value(const Graph& g, int node, const Value& s, const Tables& tables) {
  const Algebra algebra(g, node);
  const bool row_max_cancels = algebra.row_max_cancels();
  Value r{.dims = g[node].type.dims};
  for_each_row(s, tables, [&](std::size_t begin, const Coordinates& row) {
    const Reduced x = reduced(algebra, row_max_cancels, s, begin, row);
    if (x.kept.empty()) {
      r.v.push_back(algebra.scale_of(0.0, algebra.row_max_of_nothing(), row).value);
      r.carried.push_back(std::isfinite(r.v.back()) ? 16 * f32_unit * std::abs(r.v.back()) : 0);
      return;
    }
    const Interval value = algebra.scale_of(x.sum, x.row_max, row);
    const double sum_off = (16 * f32_unit + std::expm1(x.rounding)) * std::abs(x.sum.value) + x.sum_beyond + f32_least_normal * double(x.kept.size());
    const double max_off = 4 * f32_unit * std::abs(x.row_max.value) + (row_max_cancels ? 0 : x.rounding);
    const double rounding = algebra.scale_of({x.sum.value, sum_off}, {x.row_max.value, max_off}, row).error() + 16 * f32_unit * std::abs(value.value) + f32_least_normal;
    r.v.push_back(std::isnan(x.sum.value) ? x.sum.value : value.value);
    r.carried.push_back(value.error() + rounding);
  });
  return r;
}

}  // namespace attune
