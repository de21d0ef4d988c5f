#include "fuzz/graphs.h"

#include <algorithm>
#include <cmath>
#include <functional>

#include "fuzz/expressions.h"

namespace attune::fuzz {

namespace {

// Grows a graph from what is wanted down to inputs: each function returns a node of the kind and
// shape that its arguments say, new or one that is there already. Choices are made in braces or in
// statements of their own, never in two arguments of one call, whose order is the compiler's.
class Grower {
 public:
  explicit Grower(std::uint64_t seed) : r_(seed), e_(b_, r_) { choose_sizes(); }

  Graph grow() {
    const int roots = r_.of({1, 1, 1, 2, 2, 3});
    for (int i = 0; i < roots; ++i) output(root());
    if (r_.chance(20)) output(any());  // an intermediate result is wanted too
    return b_.finish();
  }

 private:
  Builder b_;
  Random r_;
  Expressions e_;
  long batch_ = 1;
  std::vector<long> heads_, lengths_, widths_;
  int budget_ = 14;  // inner tensors still to come
  std::vector<int> outputs_;

  void choose_sizes() {
    batch_ = r_.of({1L, 1L, 1L, 2L, 3L});
    heads_ = {r_.of({1L, 2L, 2L, 3L, 4L, 6L})};
    for (int i = 0; i < 2; ++i) {
      lengths_.push_back(r_.of({1L, 2L, 3L, 5L, 7L, 8L, 9L, 12L, 15L, 16L, 17L, 19L, 24L, 31L, 33L, 40L, 48L, 65L}));
      widths_.push_back(r_.of({1L, 2L, 3L, 4L, 5L, 6L, 8L, 8L, 10L, 12L, 16L, 16L, 17L, 20L, 24L, 32L, 32L, 40L, 64L}));
    }
    if (r_.chance(8)) {  // long: several blocks of columns
      batch_ = 1;
      heads_ = {r_.of({1L, 2L})};
      widths_ = {r_.of({4L, 8L, 12L}), r_.of({3L, 8L, 16L})};
      lengths_[0] = r_.of({129L, 257L, 300L, 530L});
      if (r_.chance(50)) lengths_[1] = r_.of({1L, 5L, 130L});
    }
    if (r_.chance(2)) lengths_[1] = 0;
    if (r_.chance(1)) batch_ = 0;
  }

  long length() { return r_.in(lengths_); }
  long width() { return r_.in(widths_); }
  long heads() { return r_.in(heads_); }

  void output(int node) {
    if (is_index(b_.type(node).kind) || b_.type(node).kind == Kind::integers || std::count(outputs_.begin(), outputs_.end(), node)) return;
    outputs_.push_back(node);
    b_.output(node);
  }
  int any() {
    int node = 0;
    do node = int(r_.below(b_.size()));
    while (is_index(b_.type(node).kind) || b_[node].op == Op::weight);
    return node;
  }

  int root() {
    budget_ = int(r_.between(2, 14));
    switch (r_.below(12)) {
      case 0:
      case 1: return tensor({4, {batch_, heads(), length(), width()}});
      case 2: return tensor({2, {length(), width()}});
      case 3: return scores({4, {batch_, heads(), length(), length()}});
      case 4: return weights({4, {batch_, heads(), length(), length()}});
      case 5: return b_.op(Op::transpose, {tensor({3, {batch_, width(), length()}})});
      case 6:
      case 7:
      case 8: return attention({4, {batch_, heads(), length(), width()}});
      default: return tensor({3, {batch_, length(), r_.chance(50) ? width() : heads() * width()}});
    }
  }

  // A node of this type that is there already, or -1.
  int reuse(const Type& t) {
    std::vector<int> fit;
    for (int i = 0; i < b_.size(); ++i)
      if (b_.type(i) == t && b_[i].op != Op::weight) fit.push_back(i);
    return fit.empty() ? -1 : r_.in(fit);
  }

  // A tensor that is there already and broadcasts to `d`, or -1; scores of that very shape only if wanted.
  int broadcasting(const Dims& d, bool scores) {
    std::vector<int> fit;
    for (int i = 0; i < b_.size(); ++i) {
      const Type& t = b_.type(i);
      if (is_index(t.kind) || b_[i].op == Op::weight || t.dims.rank > d.rank || (t.kind == Kind::scores && t.dims == d && !scores)) continue;
      bool fits = true;
      for (int k = 1; k <= t.dims.rank; ++k) fits = fits && (t.dims[-k] == d[-k] || t.dims[-k] == 1);
      if (fits) fit.push_back(i);
    }
    return fit.empty() ? -1 : r_.in(fit);
  }

  int tensor(const Dims& d) {
    if (r_.chance(30) || budget_ <= 0)
      if (const int known = reuse({Kind::tensor, d}); known >= 0) return known;
    if (r_.chance(4))  // scores, as any other tensor
      if (const int known = reuse({Kind::scores, d}); known >= 0) return b_.op(Op::transpose, {b_.op(Op::transpose, {known})});
    if (budget_-- <= 0 || d[-1] == 0 || r_.chance(15)) return b_.input(d);
    if (d.rank == 1 || r_.chance(25)) return elementwise(d);
    if (r_.chance(5)) return transposed(d);
    if (r_.chance(5)) return some_features(d);
    if (r_.chance(30))
      if (const int x = unsqueezed(d); x >= 0) return x;
    switch (d.rank) {
      case 4: return with_heads(d);
      case 3: return r_.chance(45) ? merged(d) : projected(d);
      default: return projected(d);
    }
  }

  int with_heads(const Dims& d) {
    switch (r_.below(10)) {
      case 0:
      case 1:
      case 2: return split(d);
      case 3:
      case 4:
        if (d[3] % 2 == 0) return rotated(d);
        return split(d);
      case 5:
        if (d[1] > 1) return repeated(d);
        return attention(d);
      case 6:
      case 7: return attention(d);
      case 8: return projected(d);
      default: return b_.input(d);
    }
  }

  int split(const Dims& d) {
    Attr a;
    a.count = d[1];
    return b_.op(Op::split_heads, {tensor({3, {d[0], d[2], d[1] * d[3]}})}, a);
  }
  int merged(const Dims& d) {
    std::vector<long> divisors;
    for (long h = 1; h <= d[2]; ++h)
      if (d[2] % h == 0) divisors.push_back(h);
    const long h = d[2] % heads_[0] == 0 && r_.chance(70) ? heads_[0] : r_.in(divisors);
    return b_.op(Op::merge_heads, {tensor({4, {d[0], h, d[1], d[2] / h}})});
  }
  int repeated(const Dims& d) {
    std::vector<long> times;
    for (long g = 2; g <= d[1]; ++g)
      if (d[1] % g == 0) times.push_back(g);
    Attr a;
    a.count = r_.in(times);
    return b_.op(Op::repeat_heads, {tensor({4, {d[0], d[1] / a.count, d[2], d[3]}})}, a);
  }
  int unsqueezed(const Dims& d) {  // -1: no extent is 1
    for (int i = 0; i < d.rank; ++i) {
      if (d[i] != 1) continue;
      Dims from;
      for (int k = 0; k < d.rank; ++k)
        if (k != i) from[from.rank++] = d[k];
      Attr a;
      a.count = i;
      const int x = tensor(from);
      return b_.op(Op::unsqueeze, {x}, a);
    }
    return -1;
  }
  int some_features(Dims d) {
    Attr a;
    a.count = d[-1];
    a.from = r_.below(4);
    d[-1] += a.from + r_.below(3);
    return b_.op(Op::features, {tensor(d)}, a);
  }
  int transposed(Dims d) {
    std::swap(d[-1], d[-2]);
    return b_.op(Op::transpose, {tensor(d)});
  }
  int rotated(const Dims& d) {
    Attr a;
    a.rotation.pairs = r_.chance(50) ? Pairs::interleaved : Pairs::half_split;
    if (r_.chance(35)) a.rotation.dims = 2 * r_.between(1, d[3] / 2);
    if (r_.chance(20)) a.rotation.amplitude = r_.of({0.5, 1.25});
    const long pairs = a.rotation.count(d[3]);
    const int pair = b_.leaf(Op::pair_index), row = b_.leaf(Op::seq_index);
    int frequency = b_.op(Op::exp, {b_.op(Op::mul, {pair, b_.real(-std::log(r_.of({10000.0, 10000.0, 500.0})) / double(pairs))})});
    if (r_.chance(25)) frequency = b_.op(Op::mul, {frequency, b_.op(Op::max, {b_.real(0.25), b_.op(Op::sub, {b_.real(1), b_.op(Op::div, {pair, b_.real(4)})})})});
    int position = row;
    if (r_.chance(35)) position = b_.op(Op::add, {row, b_.integer(r_.of({1L, 7L, 1000L}))});
    if (r_.chance(20)) position = b_.op(Op::mod, {position, b_.integer(5)});
    if (r_.chance(20) && d[2] > 0) position = b_.look_up(Kind::integer, {1, {d[2]}}, {row});
    if (r_.chance(10) && d[0] > 0 && d[2] > 0) position = b_.look_up(Kind::integer, {3, {2, d[0], d[2]}}, {b_.op(Op::min, {b_.op(Op::div, {pair, b_.integer(2)}), b_.integer(1)}), b_.leaf(Op::batch_index), row});
    std::vector<int> in{tensor(d), frequency, position};
    if (r_.chance(10)) in.push_back(b_.weight({1, {pairs}}));
    return b_.op(Op::rope, in, a);
  }

  // x W^T (+ b)
  int projected(const Dims& d) {
    Dims from = d;
    from[-1] = r_.of({d[-1], width(), widths_[0] * heads_[0]});
    const int x = tensor(from);
    Attr a;
    a.count = d[-1];
    const Dims w{2, {d[-1], from[-1]}};
    int weight = -1;
    for (int i = 0; i < b_.size(); ++i)
      if (b_[i].op == Op::weight && b_.type(i).dims == w && r_.chance(15)) weight = i;  // tied weights
    if (weight < 0) weight = b_.weight(w);
    if (r_.chance(60)) return b_.op(Op::linear, {x, weight}, a);
    return b_.op(Op::linear, {x, weight, b_.weight({1, {d[-1]}})}, a);
  }

  // Broadcasts to `d`: some dims are 1, or left away in front.
  Dims narrower(Dims d) {
    for (int i = 0; i < d.rank; ++i)
      if (r_.chance(40)) d[i] = 1;
    const int away = int(r_.below(d.rank));
    Dims r{d.rank - away, {}};
    for (int i = 1; i <= r.rank; ++i) r[-i] = d[-i];
    return r;
  }

  int normalised(int x, const Dims& d) {
    Attr a;
    a.count = long(r_.of({Norm::rms, Norm::l2}));
    a.value = r_.of({1e-6, 1e-3});
    const int y = b_.op(Op::mul, {x, b_.op(Op::inverse_norm, {x}, a)});
    return r_.chance(60) ? b_.op(Op::mul, {y, b_.weight({1, {d[-1]}})}) : y;
  }
  int elementwise(const Dims& d) {
    const int x = tensor(d);
    if (d[-1] > 0 && r_.chance(10)) return normalised(x, d);
    const auto constant = [&] { return r_.chance(25) ? b_.integer(r_.of({1L, -1L, 2L, 3L})) : b_.real(r_.of({0.5, -0.75, 1.0, 2.0, 0.1})); };
    switch (r_.below(12)) {
      case 0:
      case 1:
      case 2: return b_.op(Op::add, {x, tensor(d)});  // a residual, perhaps
      case 3: return b_.op(Op::sub, {tensor(d), x});
      case 4: {
        const int known = r_.chance(50) ? broadcasting(d, false) : -1;
        return b_.op(Op::mul, {x, known >= 0 ? known : tensor(narrower(d))});
      }
      case 5: return b_.op(Op::add, {tensor(narrower(d)), x});
      case 6: return b_.op(Op::mul, {x, constant()});
      case 7: return b_.op(Op::div, {x, constant()});
      case 8: return b_.op(Op::tanh, {x});
      case 9: return b_.op(Op::div, {x, b_.op(Op::add, {b_.op(Op::exp, {b_.op(Op::min, {x, b_.real(4)})}), constant_above_zero()})});
      case 10: return b_.op(Op::max, {x, r_.chance(50) ? constant() : tensor(narrower(d))});
      default: return b_.op(Op::sub, {constant(), x});
    }
  }
  int constant_above_zero() { return r_.chance(50) ? b_.integer(1) : b_.real(0.5); }

  // ---- scores ---------------------------------------------------------------------------------

  static Extents extents(const Dims& d) { return {d[0], d[1], d[2], d[3]}; }

  int product(const Dims& d) {
    const long depth = width();
    const int left = tensor({4, {d[0], d[1], d[2], depth}});
    if (r_.chance(12)) return b_.op(Op::matmul, {left, tensor({4, {d[0], d[1], depth, d[3]}})});
    return b_.op(Op::matmul, {left, b_.op(Op::transpose, {tensor({4, {d[0], d[1], d[3], depth}})})});
  }

  int scores(const Dims& d) {
    int s = r_.chance(25) ? reuse({Kind::scores, d}) : -1;
    if (s < 0) {
      s = product(d);
      if (r_.chance(20)) s = b_.op(Op::add, {s, product(d)});
    }
    if (r_.chance(75)) s = b_.op(Op::div, {s, b_.real(r_.of({2.0, 2.8284271247461903, 4.0, 5.5}))});
    for (int n = r_.of({0, 0, 0, 1, 1, 2, 3}); n > 0; --n) s = modified(s, d);
    if (r_.chance(55)) s = b_.op(Op::mask, {s, e_.predicate(extents(d))});
    if (r_.chance(8)) s = modified(s, d);
    if (r_.chance(10)) s = b_.op(Op::mask, {s, e_.predicate(extents(d))});
    return s;
  }

  int modified(int s, const Dims& d) {
    const Extents x = extents(d);
    switch (r_.below(15)) {
      case 0: {
        const int cap = b_.real(r_.of({2.0, 20.0, 50.0}));
        return b_.op(Op::mul, {cap, b_.op(Op::tanh, {b_.op(Op::div, {s, cap})})});
      }
      case 1:
      case 2: return b_.op(Op::add, {s, e_.bias(x)});
      case 3: return b_.op(Op::sub, {e_.bias(x), s});
      case 4: return b_.op(Op::mul, {s, e_.bias(x)});
      case 5:
      case 6: {
        const int known = r_.chance(25) ? broadcasting(d, true) : -1;
        return b_.op(Op::add, {s, known >= 0 ? known : tensor(narrower(d))});
      }
      case 7: return b_.op(Op::mul, {tensor(narrower(d)), s});
      case 8: return b_.op(Op::mul, {s, b_.real(r_.of({0.5, -1.0, -0.3, 0.0}))});
      case 9: return b_.op(Op::min, {s, b_.real(3)});
      case 10: return b_.op(Op::max, {s, r_.chance(50) ? b_.real(-2) : e_.bias(x)});
      case 11: return b_.op(Op::exp, {b_.op(Op::min, {s, b_.integer(2)})});
      case 12: return b_.op(Op::mul, {s, s});
      case 13: {
        const int other = reuse({Kind::scores, d});
        return other < 0 ? s : b_.op(Op::sub, {s, b_.op(Op::mul, {other, b_.real(0.5)})});
      }
      default: return b_.op(Op::add, {s, b_.op(Op::sub, {b_.leaf(Op::kv_index), b_.leaf(Op::q_index)})});
    }
  }

  // Scores that weigh values.
  int weights(const Dims& d) {
    if (r_.chance(10))
      if (const int known = reuse({Kind::scores, d}); known >= 0) return known;
    const int s = scores(d);
    if (r_.chance(8)) return s;
    std::vector<int> in = e_.algebra();
    in.insert(in.begin(), s);
    const int p = b_.op(Op::reduce_rows, in);
    if (r_.chance(15)) {
      in[3] = e_.row_value({in.begin() + 1, in.end()});
      const int value = b_.op(Op::row_value, in);
      output(value);
    }
    if (r_.chance(85)) return p;
    switch (r_.below(5)) {
      case 3: return b_.op(Op::mul, {e_.bias(extents(d)), p});
      case 4: return b_.op(Op::div, {b_.op(Op::mul, {p, tensor({2, {d[2], d[3]}})}), b_.real(0.9)});
      case 0: return b_.op(Op::mul, {p, b_.real(0.5)});
      case 1: return b_.op(Op::mul, {p, tensor(narrower(d))});
      default: {  // a difference of two
        std::vector<int> other = e_.algebra();
        other.insert(other.begin(), r_.chance(50) ? s : scores(d));
        return b_.op(Op::sub, {p, b_.op(Op::reduce_rows, other)});
      }
    }
  }

  int attention(const Dims& d) {
    const Dims s{4, {d[0], d[1], d[2], length()}};
    const int p = weights(s);
    return b_.op(Op::matmul, {p, tensor({4, {d[0], d[1], s[3], d[3]}})});
  }
};

}  // namespace

Graph random_graph(std::uint64_t seed) { return Grower(seed).grow(); }

}  // namespace attune::fuzz
