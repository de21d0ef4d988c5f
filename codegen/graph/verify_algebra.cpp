// Numbers that must agree: the algebra of reductions, and the weight of what a mask removes.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <vector>

#include "graph/algebra.h"
#include "graph/print.h"
#include "graph/verify.h"

namespace attune {

namespace {

constexpr double infinity = std::numeric_limits<double>::infinity();

// Finite numbers that stand for any.
constexpr double samples[] = {-7.5, -1, -0.25, 0, 0.5, 3};

// What the score of a removed pair may have become at a node.
struct Removed {
  std::vector<double> values;  // sorted, NaN last; empty: no pair is removed below
  int mask = -1;               // what removes
  int changed = -1;            // the first op that made of it anything but -inf or 0
};

class AlgebraVerifier {
  const Graph& g_;
  std::vector<Removed> removed_;

  std::string text(int node) const { return expression_text(g_, node); }

  void check_identity(int node) const {
    const Algebra a(g_, node);
    if (mentions(g_, a.weight, Op::row_max) && !mentions(g_, a.rescale, Op::row_max) && !mentions(g_, a.rescale, Op::old_max))
      reject(g_, node, fmt::format("its weight {} knows row_max, but its rescale is {}; say how weights already summed follow when row_max rises: "
                                   "weight(score, row_max) = weight(score, old_max) * rescale",
                                   text(a.weight), text(a.rescale)));
    for (double score : samples)
      for (double old_max : samples)
        for (double row_max : samples) {
          if (row_max < old_max) continue;
          const double direct = a.weight_of(score, row_max, {}).value, before = a.weight_of(score, old_max, {}).value;
          if (score <= old_max && !(std::isfinite(direct) && std::isfinite(before)))
            reject(g_, node, fmt::format("its weight {} is {} at score {}, row_max {}", text(a.weight), direct, score, row_max));
          const double rescaled = before * a.rescale_of(old_max, row_max, {});
          if (!std::isfinite(direct) || std::abs(direct - rescaled) <= 1e-9 * std::max(std::abs(direct), std::abs(rescaled))) continue;
          const char* mend = mentions(g_, a.weight, Op::row_max) ? "" : "; where the weight does not know row_max, rescale is 1";
          reject(g_, node, fmt::format("its rescale {} does not carry its weight {} from old_max to row_max: at score {}, old_max {}, row_max {} "
                                       "the weight is {:.4g}, but the old one rescaled {:.4g}{}",
                                       text(a.rescale), text(a.weight), score, old_max, row_max, direct, rescaled, mend));
        }
  }

  // How the user may find the way from the mask to here.
  std::string origin(const Removed& r) const {
    const auto place = [&](int node) { return fmt::format("{} (%{}{})", node_text(g_, node), node, g_[node].line ? fmt::format(", line {}", g_[node].line) : ""); };
    std::string s = fmt::format("{} gives removed pairs the score -inf", place(r.mask));
    if (r.changed >= 0) s += fmt::format(", but {} makes {} of it", place(r.changed), fmt::join(removed_[std::size_t(r.changed)].values, " or "));
    return s;
  }

  void check_weight_of_removed(int node) const {
    const Removed& r = removed_[std::size_t(g_[node].in[0])];
    const Algebra a(g_, node);
    for (double value : r.values)
      for (double row_max : samples) {
        const double w = a.weight_of(value, value > row_max ? value : row_max, {}).value;
        if (w == 0) continue;
        const char* mend = value == -infinity ? "choose a weight that is 0 at -inf, as exp(score - row_max) is"
                                              : "apply the mask last, so that they reach the reduction as -inf";
        reject(g_, node, fmt::format("{}; they reach this reduction as {} and would weigh {:.4g} instead of 0; {}", origin(r), value, w, mend));
      }
  }

  void check_product(int node) const {
    const Removed& r = removed_[std::size_t(g_[node].in[0])];
    for (double value : r.values)
      if (value != 0)
        reject(g_, node, fmt::format("{}; they reach this product as {}, but must weigh 0; reduce the rows of masked scores, as softmax does, "
                                     "before they weigh anything",
                                     origin(r), value));
  }

  // Pairs that an earlier mask removed are removed again if the predicate is the same.
  Removed through_mask(int node) const {
    const Node& n = g_[node];
    Removed r{{-infinity}, node, -1};
    const Removed& below = removed_[std::size_t(n.in[0])];
    if (below.values.empty() || (g_[below.mask].op == Op::mask && g_[below.mask].in[1] == n.in[1])) return r;
    r = below;
    if (r.values.front() != -infinity) r.values.insert(r.values.begin(), -infinity);
    return r;
  }

  // What operand `i` of an elementwise node may be: anything, but for the removed pairs' values.
  std::vector<double> values_of(int node, std::size_t i) const {
    const int in = g_[node].in[i];
    if (in < 0) return {0};
    if (!is_index(g_[in].type.kind)) return {std::begin(samples), std::end(samples)};
    std::set<double> r;
    const Dims& d = g_[node].type.dims;
    const auto places = [&](int dim) { return std::set<long>{0, std::min(1L, std::max(0L, d[dim] - 1)), std::max(0L, d[dim] - 1)}; };
    if (mentions(g_, in, Op::look_up)) return {std::begin(samples), std::end(samples)};  // whatever its table holds
    if (d.rank < max_rank) return {number_at(g_, in, {}).value};
    for (long b : places(0))
      for (long h : places(1))
        for (long q : places(2))
          for (long kv : places(3)) r.insert(number_at(g_, in, {b, h, q, kv}).value);
    return {r.begin(), r.end()};
  }

  // Whether two operands lack the same pairs: those of one predicate.
  bool removed_together(const Node& n) const {
    if (n.in[0] < 0 || n.in[1] < 0) return false;
    const Removed &a = removed_[std::size_t(n.in[0])], &b = removed_[std::size_t(n.in[1])];
    const auto predicate = [&](const Removed& r) { return g_[r.mask].op == Op::mask ? g_[r.mask].in[1] : -1; };
    return !a.values.empty() && !b.values.empty() && predicate(a) >= 0 && predicate(a) == predicate(b);
  }

  Removed through_elementwise(int node) const {
    const Node& n = g_[node];
    Removed r;
    std::set<double> values;
    bool nan = false;
    const auto add = [&](double v) { std::isnan(v) ? void(nan = true) : void(values.insert(v)); };
    for (std::size_t i = 0; i < 2; ++i) {
      if (n.in[i] < 0) continue;
      const Removed& mine = removed_[std::size_t(n.in[i])];
      std::vector<double> other = removed_together(n) ? std::vector<double>{} : values_of(node, 1 - i);
      if (n.in[1 - i] >= 0) {
        const auto& removed_too = removed_[std::size_t(n.in[1 - i])].values;
        other.insert(other.end(), removed_too.begin(), removed_too.end());
      }
      for (double x : mine.values)
        for (double y : other) {
          const bool weightless = x == 0 && (n.op == Op::mul || (n.op == Op::div && i == 0));  // whatever the factor is
          add(weightless ? 0 : i == 0 ? apply(n.op, x, y).value : apply(n.op, y, x).value);
        }
      if (r.mask < 0) r.mask = mine.mask;
      if (r.changed < 0) r.changed = mine.changed;
    }
    if (values.empty() && !nan) {  // no mask below; a bias of -inf removes just so
      for (double x : values_of(node, 0))
        for (double y : values_of(node, 1))
          if ((std::isinf(x) || std::isinf(y)) && apply(n.op, x, y).value == -infinity) return {{-infinity}, node, -1};
      return {};
    }
    r.values.assign(values.begin(), values.end());
    if (r.values.size() > 8) r.values.erase(r.values.begin() + 4, r.values.end() - 4);  // sums of many: the ends tell enough
    if (nan) r.values.push_back(std::numeric_limits<double>::quiet_NaN());
    const auto harmless = [](double v) { return v == -infinity || v == 0; };
    if (r.changed < 0 && !std::all_of(r.values.begin(), r.values.end(), harmless)) r.changed = node;
    return r;
  }

 public:
  explicit AlgebraVerifier(const Graph& g) : g_(g), removed_(g.size()) {}

  void run() {
    for (int i = 0; i < int(g_.size()); ++i) {
      const Node& n = g_[i];
      Removed& r = removed_[std::size_t(i)];
      if (n.op == Op::mask) {
        r = through_mask(i);
      } else if (n.op == Op::reduce_rows || n.op == Op::row_value) {
        check_identity(i);
        check_weight_of_removed(i);
        if (n.op == Op::row_value) continue;
        if (const Removed& below = removed_[std::size_t(n.in[0])]; !below.values.empty()) r = {{0}, below.mask, -1};
      } else if (n.op == Op::matmul) {
        check_product(i);
      } else if (n.type.kind == Kind::scores) {
        r = through_elementwise(i);
      }
    }
  }
};

}  // namespace

void verify_algebra(const Graph& g) { AlgebraVerifier(g).run(); }

}  // namespace attune
