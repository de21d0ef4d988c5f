// The ops that know rows: mask, row reductions and rotary embedding.
#include <algorithm>
#include <cmath>
#include <limits>

#include "graph/algebra.h"
#include "graph/value.h"

namespace attune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

}  // namespace

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

Value rope(const Node& n, const Value& x) {
  const Rotation& how = n.attr.rotation;
  const long head_dim = x.dims[-1], seq = x.dims[-2], rotated = how.dims ? how.dims : head_dim, pairs = rotated / 2;
  const auto error = [&](std::size_t i) { return x.error_at(i) + 4 * f32_unit * std::abs(x.v[i]) + 2 * f32_least_normal; };
  const bool interleaved = how.pairs == Pairs::interleaved;
  Value r{x.dims, x.v, std::vector<double>(x.v.size())};
  for (std::size_t i = 0; i < r.v.size(); ++i) r.carried[i] = x.error_at(i);
  for (std::size_t row = 0; row < r.v.size(); row += std::size_t(head_dim)) {
    const long position = long(row) / head_dim % seq + how.offset;
    for (long pair = 0; pair < pairs; ++pair) {
      const double angle = double(position) * std::pow(how.base, -2.0 * double(pair) / double(rotated));
      const double c = std::cos(angle), s = std::sin(angle);
      const std::size_t i = row + std::size_t(interleaved ? 2 * pair : pair), j = row + std::size_t(interleaved ? 2 * pair + 1 : pair + pairs);
      r.v[i] = x.v[i] * c - x.v[j] * s;
      r.v[j] = x.v[i] * s + x.v[j] * c;
      // The table entry, the product and the sum are each rounded once, or flushed to 0.
      r.carried[i] = std::abs(c) * error(i) + std::abs(s) * error(j);
      r.carried[j] = std::abs(s) * error(i) + std::abs(c) * error(j);
    }
  }
  return r;
}

}  // namespace attune
