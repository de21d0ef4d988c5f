#include "passes/predicate.h"
#include <algorithm>
#include <array>
#include <cmath>
#include <limits>
#include <map>
#include <stdexcept>

namespace attune {
namespace {

constexpr double inf = std::numeric_limits<double>::infinity();

constexpr bool is_leaf(Op op) { return op >= Op::batch_index && op <= Op::kv_index; }
constexpr unsigned bit(Op leaf) { return 1u << (unsigned(leaf) - unsigned(Op::batch_index)); }
constexpr bool compares(Op op) { return op == Op::lt || op == Op::le || op == Op::eq; }

// Integers saturate far outside what is exact, so that no infinity arises among them.
constexpr double saturate(double v) { return std::clamp(v, -0x1p62, 0x1p62); }
constexpr double floor_of(double v) {  // of a saturated value; std::floor is a call on baseline x86-64
  const double t = double(long(v));
  return t > v ? t - 1 : t;
}

constexpr double mod_of(double x, double y) { return x - floor_of(x / y) * y; }

constexpr bool empty(const Block& b) { return b.batch0 >= b.batch1 || b.head0 >= b.head1 || b.q0 >= b.q1 || b.kv0 >= b.kv1; }

// The widest of the four ranges cut in two, for a block of more than one score.
void halve(const Block& b, Block& low, Block& high) {
  low = high = b;
  const long batch = b.batch1 - b.batch0, head = b.head1 - b.head0, q = b.q1 - b.q0, kv = b.kv1 - b.kv0;
  if (kv >= q && kv >= head && kv >= batch) low.kv1 = high.kv0 = b.kv0 + kv / 2;
  else if (q >= head && q >= batch) low.q1 = high.q0 = b.q0 + q / 2;
  else if (head >= batch) low.head1 = high.head0 = b.head0 + head / 2;
  else low.batch1 = high.batch0 = b.batch0 + batch / 2;
}

// Below this, evaluating the rows is cheaper than halving further.
constexpr int row_width = 64;
constexpr long small_scores = 512;
bool small(const Block& b) {
  const long kv = b.kv1 - b.kv0;
  return kv <= row_width && (b.batch1 - b.batch0) * (b.head1 - b.head0) * (b.q1 - b.q0) * kv <= small_scores;
}

template <class F>  // f(batch, head, q) -> false to stop
void for_rows(const Block& b, F f) {
  for (long batch = b.batch0; batch < b.batch1; ++batch)
    for (long head = b.head0; head < b.head1; ++head)
      for (long q = b.q0; q < b.q1; ++q)
        if (!f(batch, head, q)) return;
}

}  // namespace

// Values of an expression at `Width` successive kv of one row.
template <int Width>
class IndexAnalysis::Rows {
  using Lanes = std::array<double, std::size_t(Width)>;
  const std::vector<Step>& steps_;
  std::vector<Lanes> lanes_;

  template <class F>
  static void each(Lanes& r, F f) {
    for (std::size_t i = 0; i < r.size(); ++i) r[i] = f(i);
  }

  void eval(const Step& s, Lanes& r) {
    // Truths are 0, 1, or a half where a table decides: both, either and negation keep to that.
    if (s.unknown && compares(s.op)) return r.fill(0.5);
    const Lanes& x = lanes_[std::size_t(std::max(s.x, 0))];
    const Lanes& y = lanes_[std::size_t(std::max(s.y, 0))];
    const bool integer = s.kind == Kind::integer;
    switch (s.op) {
      case Op::add: return integer ? each(r, [&](auto i) { return saturate(x[i] + y[i]); }) : each(r, [&](auto i) { return x[i] + y[i]; });
      case Op::sub: return integer ? each(r, [&](auto i) { return saturate(x[i] - y[i]); }) : each(r, [&](auto i) { return x[i] - y[i]; });
      case Op::mul: return integer ? each(r, [&](auto i) { return saturate(x[i] * y[i]); }) : each(r, [&](auto i) { return x[i] * y[i]; });
      case Op::div: return integer ? each(r, [&](auto i) { return floor_of(x[i] / y[i]); }) : each(r, [&](auto i) { return x[i] / y[i]; });
      case Op::mod: return each(r, [&](auto i) { return mod_of(x[i], y[i]); });
      // The first operand wins where it is NaN, and a comparison with NaN picks the second.
      case Op::min: return each(r, [&](auto i) { return x[i] != x[i] || x[i] < y[i] ? x[i] : y[i]; });
      case Op::max: return each(r, [&](auto i) { return x[i] != x[i] || x[i] > y[i] ? x[i] : y[i]; });
      case Op::exp: return each(r, [&](auto i) { return std::exp(x[i]); });
      case Op::log: return each(r, [&](auto i) { return std::log(x[i]); });
      case Op::tanh: return each(r, [&](auto i) { return std::tanh(x[i]); });
      case Op::lt: return each(r, [&](auto i) { return double(x[i] < y[i]); });
      case Op::le: return each(r, [&](auto i) { return double(x[i] <= y[i]); });
      case Op::eq: return each(r, [&](auto i) { return double(x[i] == y[i]); });
      case Op::both: return each(r, [&](auto i) { return x[i] < y[i] ? x[i] : y[i]; });
      case Op::either: return each(r, [&](auto i) { return x[i] > y[i] ? x[i] : y[i]; });
      case Op::negation: return each(r, [&](auto i) { return 1 - x[i]; });
      default: return;
    }
  }

 public:
  explicit Rows(const IndexAnalysis& a) : steps_(a.steps_), lanes_(steps_.size()) {
    for (std::size_t i = 0; i < steps_.size(); ++i)
      if (steps_[i].op == Op::constant) lanes_[i].fill(steps_[i].value);
  }
  // lane i is the value at kv0 + i; valid until the next call.
  const Lanes& operator()(long batch, long head, long q, long kv0) {
    for (std::size_t i = 0; i < steps_.size(); ++i) {
      Lanes& r = lanes_[i];
      switch (steps_[i].op) {
        case Op::constant: break;
        case Op::batch_index: r.fill(double(batch)); break;
        case Op::head_index: r.fill(double(head)); break;
        case Op::q_index: r.fill(double(q)); break;
        case Op::kv_index: each(r, [&](auto l) { return double(kv0 + long(l)); }); break;
        default: eval(steps_[i], r);
      }
    }
    return lanes_.back();
  }
};

IndexAnalysis::IndexAnalysis(const Graph& g, int node, long batches, long heads) : batches_(batches), heads_(heads) {
  std::vector<int> to(g.size(), -1);
  to[std::size_t(node)] = 0;
  for (int i = node; i >= 0; --i) {
    if (to[std::size_t(i)] < 0) continue;
    for (int k : g[i].in)
      if (k >= 0) to[std::size_t(k)] = 0;
  }
  for (int i = 0; i <= node; ++i) {
    if (to[std::size_t(i)] < 0) continue;
    const Node& n = g[i];
    if (i < node && (n.op == Op::input || n.op == Op::weight)) continue;  // a table
    const bool known = (n.op >= Op::add && n.op <= Op::negation) || n.op == Op::constant || is_leaf(n.op) || n.op == Op::look_up;
    if (!known || !is_index(n.type.kind)) throw std::invalid_argument("IndexAnalysis: a node is no function of the coordinates of a score");
    Step s{n.op, n.type.kind};
    if (n.op == Op::constant) s.value = n.type.kind == Kind::real ? n.attr.value : double(n.attr.count);
    if (is_leaf(n.op)) s.leaves = bit(n.op);
    for (int k : n.in)
      if (k >= 0 && is_index(g[k].type.kind)) {
        s.leaves |= steps_[std::size_t(to[std::size_t(k)])].leaves;
        s.unknown |= steps_[std::size_t(to[std::size_t(k)])].unknown;
      }
    if (n.op == Op::look_up) {
      s.unknown = true;
    } else {
      if (n.in[0] >= 0) s.x = to[std::size_t(n.in[0])];
      if (n.in[1] >= 0) s.y = to[std::size_t(n.in[1])];
    }
    if ((s.op == Op::div && s.kind == Kind::integer) || s.op == Op::mod) {
      const Step& by = steps_[std::size_t(s.y)];
      if (by.op != Op::constant || by.value < 1) throw std::invalid_argument("IndexAnalysis: the divisor of an integer division isn't a positive constant");
    }
    to[std::size_t(i)] = int(steps_.size());
    steps_.push_back(s);
  }
  find_shared_terms();
}

void IndexAnalysis::find_shared_terms() {
  struct Sum {
    double offset = 0;
    std::map<int, double> terms{};  // factor of each step that is no sum itself
  };
  std::vector<Sum> sums(steps_.size());
  const auto integer = [&](int step) { return step >= 0 && steps_[std::size_t(step)].kind == Kind::integer; };
  for (std::size_t i = 0; i < steps_.size(); ++i) {
    Step& s = steps_[i];
    const Sum itself{0, {{int(i), 1.0}}};
    Sum r = itself;
    if (s.op == Op::constant && s.kind == Kind::integer) {
      r = {s.value, {}};
    } else if (integer(s.x) && integer(s.y)) {
      const Sum &x = sums[std::size_t(s.x)], &y = sums[std::size_t(s.y)];
      if (s.op == Op::add || s.op == Op::sub || compares(s.op)) {
        const double sign = s.op == Op::add ? 1 : -1;
        r = {x.offset + sign * y.offset, x.terms};
        for (auto [step, factor] : y.terms) {
          s.shares |= r.terms.count(step) > 0;
          r.terms[step] += sign * factor;
        }
      } else if (s.op == Op::mul && (x.terms.empty() || y.terms.empty())) {
        const double by = x.terms.empty() ? x.offset : y.offset;
        r = x.terms.empty() ? y : x;
        r.offset *= by;
        for (auto& t : r.terms) t.second *= by;
      }
    }
    bool exact = std::abs(r.offset) < 0x1p53;
    for (const auto& t : r.terms) exact &= std::abs(t.second) < 0x1p53;
    s.shares &= exact;
    if (s.shares) {
      s.offset = r.offset;
      for (auto [step, factor] : r.terms)
        if (factor != 0) s.terms.push_back({factor, step});
    }
    sums[i] = exact && !compares(s.op) ? r : itself;
  }
}

IndexAnalysis::Bounds IndexAnalysis::sum_of(const Step& s, const std::vector<Bounds>& all) {
  Bounds r{s.offset, s.offset};
  for (const Term& t : s.terms) {
    const Bounds& b = all[std::size_t(t.step)];
    r.lo += t.factor * (t.factor < 0 ? b.hi : b.lo);
    r.hi += t.factor * (t.factor < 0 ? b.lo : b.hi);
  }
  return {saturate(r.lo), saturate(r.hi)};
}

// Rounding to nearest is monotone, so bounds computed in double hold for values computed in double.
IndexAnalysis::Bounds IndexAnalysis::bounds(const Step& s, const std::vector<Bounds>& all, const Block& b) {
  constexpr Bounds anything{-inf, inf, true};
  const auto truth = [](bool never, bool always) { return Bounds{always ? 1.0 : 0.0, never ? 0.0 : 1.0}; };
  Bounds x = s.x >= 0 ? all[std::size_t(s.x)] : Bounds{}, y = s.y >= 0 ? all[std::size_t(s.y)] : Bounds{};
  if (s.shares) {
    if (!compares(s.op)) return sum_of(s, all);
    x = sum_of(s, all);
    y = {0, 0};
  }
  const bool nan = x.nan || y.nan, integer = s.kind == Kind::integer;
  if (s.op >= Op::add && s.op <= Op::div && !integer)
    for (double v : {x.lo, x.hi, y.lo, y.hi})
      if (nan || !std::isfinite(v)) return anything;
  const auto hull = [&](double a, double b, double c, double d) {
    const auto [lo, hi] = std::minmax({a, b, c, d});
    return integer ? Bounds{saturate(lo), saturate(hi)} : Bounds{lo, hi};
  };
  // libm's exp and tanh are within a few ulps, not monotone.
  const auto libm = [&](double (*f)(double), double least, double most) {
    Bounds r{f(x.lo), f(x.hi), nan};
    if (x.lo == x.hi) return r;
    constexpr double slack = 8 * std::numeric_limits<double>::epsilon();
    if (std::isfinite(r.lo)) r.lo = std::max(least, r.lo - slack * std::abs(r.lo) - std::numeric_limits<double>::min());
    if (std::isfinite(r.hi)) r.hi = std::min(most, r.hi + slack * std::abs(r.hi) + std::numeric_limits<double>::min());
    return r;
  };
  switch (s.op) {
    case Op::constant: return {s.value, s.value, std::isnan(s.value)};
    case Op::batch_index: return {double(b.batch0), double(b.batch1 - 1)};
    case Op::head_index: return {double(b.head0), double(b.head1 - 1)};
    case Op::q_index: return {double(b.q0), double(b.q1 - 1)};
    case Op::kv_index: return {double(b.kv0), double(b.kv1 - 1)};
    case Op::look_up: return integer ? Bounds{-0x1p31, 0x1p31 - 1} : anything;
    case Op::add: return hull(x.lo + y.lo, x.lo + y.lo, x.hi + y.hi, x.hi + y.hi);
    case Op::sub: return hull(x.lo - y.hi, x.lo - y.hi, x.hi - y.lo, x.hi - y.lo);
    case Op::mul: return hull(x.lo * y.lo, x.lo * y.hi, x.hi * y.lo, x.hi * y.hi);
    case Op::div:
      if (integer) return {floor_of(x.lo / y.lo), floor_of(x.hi / y.lo)};
      if (y.lo <= 0 && y.hi >= 0) return anything;
      return hull(x.lo / y.lo, x.lo / y.hi, x.hi / y.lo, x.hi / y.hi);
    case Op::mod: {
      const double first = floor_of(x.lo / y.lo) * y.lo;
      return x.hi - first < y.lo ? Bounds{x.lo - first, x.hi - first} : Bounds{0, y.lo - 1};
    }
    case Op::min: return {std::min(x.lo, y.lo), std::min(x.hi, y.hi), nan};
    case Op::max: return {std::max(x.lo, y.lo), std::max(x.hi, y.hi), nan};
    case Op::exp: return libm(std::exp, 0, inf);
    case Op::log: return x.lo > 0 ? libm(std::log, -inf, inf) : anything;
    case Op::tanh: return libm(std::tanh, -1, 1);
    case Op::lt: return truth(x.lo >= y.hi, x.hi < y.lo && !nan);
    case Op::le: return truth(x.lo > y.hi, x.hi <= y.lo && !nan);
    case Op::eq: return truth(x.hi < y.lo || y.hi < x.lo, x.lo == x.hi && y.lo == y.hi && x.lo == y.lo && !nan);
    case Op::both: return {std::min(x.lo, y.lo), std::min(x.hi, y.hi)};
    case Op::either: return {std::max(x.lo, y.lo), std::max(x.hi, y.hi)};
    case Op::negation: return {1 - x.hi, 1 - x.lo};
    default: return anything;
  }
}

std::vector<IndexAnalysis::Bounds> IndexAnalysis::all_bounds(const Block& b) const {
  std::vector<Bounds> all;
  all.reserve(steps_.size());
  for (const Step& s : steps_) all.push_back(bounds(s, all, b));
  return all;
}

IndexInterval IndexAnalysis::interval(const Block& b) const {
  const Bounds r = all_bounds(b).back();
  return r.nan ? IndexInterval{-inf, inf} : IndexInterval{r.lo, r.hi};
}

bool IndexAnalysis::fits_int32(const Block& b) const {
  constexpr double least = std::numeric_limits<std::int32_t>::min(), most = std::numeric_limits<std::int32_t>::max();
  for (long end : {b.batch1, b.head1, b.q1, b.kv1})
    if (double(end) > most) return false;
  const std::vector<Bounds> all = all_bounds(b);
  for (std::size_t i = 0; i < all.size(); ++i)
    if (steps_[i].kind == Kind::integer && (all[i].lo < least || all[i].hi > most)) return false;
  return true;
}

bool IndexAnalysis::depends_on(Op leaf) const { return is_leaf(leaf) && (steps_.back().leaves & bit(leaf)); }

bool IndexAnalysis::at(long batch, long head, long q, long kv) const { return Rows<1>(*this)(batch, head, q, kv)[0] != 0; }

Kept IndexAnalysis::classify(const Block& b) const {
  if (empty(b)) return Kept::none;
  const Bounds r = all_bounds(b).back();
  return r.hi == 0 ? Kept::none : r.lo == 1 ? Kept::all : Kept::mixed;
}

// Along a coordinate that the expression ignores, one score stands for all.
Block IndexAnalysis::without_repeats(Block b) const {
  if (!depends_on(Op::batch_index)) b.batch1 = std::min(b.batch1, b.batch0 + 1);
  if (!depends_on(Op::head_index)) b.head1 = std::min(b.head1, b.head0 + 1);
  if (!depends_on(Op::q_index)) b.q1 = std::min(b.q1, b.q0 + 1);
  if (!depends_on(Op::kv_index)) b.kv1 = std::min(b.kv1, b.kv0 + 1);
  return b;
}

Kept IndexAnalysis::classify_exact(const Block& block) const {
  const Kept known = classify(block);
  if (known != Kept::mixed) return known;
  const Block whole = without_repeats(block);
  bool kept = false, removed = false;
  const auto see = [&](bool k) { (k ? kept : removed) = true; };
  const auto saw = [&](double truth) {
    kept |= truth != 0;
    removed |= truth != 1;
  };
  Rows<1> one(*this);  // most mixed blocks show it at a corner
  for (long q : {whole.q0, whole.q1 - 1})
    for (long kv : {whole.kv0, whole.kv1 - 1}) saw(one(whole.batch0, whole.head0, q, kv)[0]);
  if (kept && removed) return Kept::mixed;
  Rows<row_width> rows(*this);
  std::vector<Block> work{whole};
  while (!work.empty() && !(kept && removed)) {
    const Block b = work.back();
    work.pop_back();
    if (const Kept k = classify(b); k != Kept::mixed) {
      see(k == Kept::all);
    } else if (small(b)) {
      for_rows(b, [&](long batch, long head, long q) {
        const auto& row = rows(batch, head, q, b.kv0);
        for (long i = 0; i < b.kv1 - b.kv0; ++i) saw(row[std::size_t(i)]);
        return !(kept && removed);
      });
    } else {
      Block low, high;
      halve(b, low, high);
      work.insert(work.end(), {low, high});
    }
  }
  return kept && removed ? Kept::mixed : kept ? Kept::all : Kept::none;
}

long IndexAnalysis::edge(const Block& block, bool first) const {
  long best = -1;
  const auto better = [&](long kv) { return best < 0 || (first ? kv < best : kv > best); };
  Rows<row_width> rows(*this);
  std::vector<Block> work{without_repeats(block)};
  while (!work.empty()) {
    const Block b = work.back();
    work.pop_back();
    if (!better(first ? b.kv0 : b.kv1 - 1)) continue;
    if (const Kept k = classify(b); k != Kept::mixed) {
      if (k == Kept::all) best = first ? b.kv0 : b.kv1 - 1;
    } else if (small(b)) {
      for_rows(b, [&](long batch, long head, long q) {
        const auto& row = rows(batch, head, q, b.kv0);
        for (long i = 0; i < b.kv1 - b.kv0; ++i)
          if (row[std::size_t(i)] != 0 && better(b.kv0 + i)) best = b.kv0 + i;
        return true;
      });
    } else {  // the more promising half is on top of the stack
      Block low, high;
      halve(b, low, high);
      if (first) std::swap(low, high);
      work.insert(work.end(), {low, high});
    }
  }
  return best >= 0 && !depends_on(Op::kv_index) && !first ? block.kv1 - 1 : best;
}

long IndexAnalysis::count_kept(const Block& block) const {
  if (empty(block)) return 0;
  const auto scores = [](const Block& b) { return (b.batch1 - b.batch0) * (b.head1 - b.head0) * (b.q1 - b.q0) * (b.kv1 - b.kv0); };
  const Block whole = without_repeats(block);
  long n = 0;
  Rows<row_width> rows(*this);
  std::vector<Block> work{whole};
  while (!work.empty()) {
    const Block b = work.back();
    work.pop_back();
    if (const Kept k = classify(b); k != Kept::mixed) {
      if (k == Kept::all) n += scores(b);
    } else if (small(b)) {
      for_rows(b, [&](long batch, long head, long q) {
        const auto& row = rows(batch, head, q, b.kv0);
        for (long i = 0; i < b.kv1 - b.kv0; ++i) n += row[std::size_t(i)] != 0;
        return true;
      });
    } else {
      Block low, high;
      halve(b, low, high);
      work.insert(work.end(), {low, high});
    }
  }
  return n * (scores(block) / scores(whole));
}

}  // namespace attune
