#include "fuzz/expressions.h"

#include <algorithm>

namespace attune::fuzz {

int Expressions::integer(const Extents& x, int depth) {
  if (depth <= 0 || r_.chance(30)) return r_.chance(75) ? coordinate() : b_.integer(r_.between(-3, std::max(4L, x.kv)));
  switch (r_.below(9)) {
    case 0:
    case 1: return b_.op(Op::add, {integer(x, depth - 1), integer(x, depth - 1)});
    case 2:
    case 3: return b_.op(Op::sub, {integer(x, depth - 1), integer(x, depth - 1)});
    case 4: return b_.op(Op::mul, {integer(x, depth - 1), b_.integer(r_.of({-3L, -1L, 2L, 3L, 5L}))});
    case 5: return b_.op(Op::div, {integer(x, depth - 1), b_.integer(r_.between(1, 9))});
    case 6: return b_.op(Op::mod, {integer(x, depth - 1), b_.integer(r_.between(1, 9))});
    case 7: return b_.op(Op::min, {integer(x, depth - 1), integer(x, depth - 1)});
    default: return b_.op(Op::max, {integer(x, depth - 1), integer(x, depth - 1)});
  }
}

// An element of a table, of a shape that its indices keep to.
int Expressions::looked_up(const Extents& x, Kind element) {
  switch (r_.below(5)) {
    case 0: return b_.look_up(element, {1, {x.batch}}, {b_.leaf(Op::batch_index)});
    case 1: return b_.look_up(element, {2, {x.heads, x.q}}, {b_.leaf(Op::head_index), q()});
    case 2: return b_.look_up(element, {2, {x.batch, x.kv}}, {b_.leaf(Op::batch_index), kv()});
    case 3: return b_.look_up(element, {1, {x.q + x.kv}}, {b_.op(Op::add, {b_.op(Op::sub, {q(), kv()}), b_.integer(x.kv)})});
    default: return b_.look_up(element, {3, {x.heads, x.q, x.kv}}, {b_.leaf(Op::head_index), q(), kv()});
  }
}

int Expressions::comparison(const Extents& x, int depth) {
  int a = integer(x, depth - 1), b = integer(x, depth - 1);
  if (x.batch * x.q * x.kv > 0 && r_.chance(20)) {
    a = looked_up(x, Kind::integer);
    if (r_.chance(40)) b = looked_up(x, Kind::integer);
  }
  if (r_.chance(15)) a = b_.op(Op::mul, {a, b_.real(r_.of({0.5, -0.25, 1.5, 2.0}))});
  if (r_.chance(5)) b = b_.op(Op::add, {b, b_.real(r_.of({0.5, -2.25}))});
  return b_.op(r_.of({Op::lt, Op::le, Op::le, Op::lt, Op::eq}), {a, b});
}

// What attention is masked with.
int Expressions::pattern(const Extents& x) {
  const int causal = b_.op(Op::le, {kv(), b_.op(Op::add, {q(), b_.integer(r_.of({0L, 0L, x.kv - x.q, 1L, -1L}))})});
  const int behind = b_.op(Op::sub, {q(), kv()});
  const auto window = [&] { return b_.op(Op::lt, {behind, b_.integer(r_.of({0L, 1L, 3L, x.kv / 2, x.kv / 4 + 1}))}); };
  const auto blocks = [&] {
    const int size = b_.integer(r_.of({1L, 2L, 5L, 8L, 16L}));
    return b_.op(Op::eq, {b_.op(Op::div, {q(), size}), b_.op(Op::div, {kv(), size})});
  };
  switch (r_.below(9)) {
    case 0:
    case 1: return causal;
    case 2: return b_.op(Op::both, {causal, window()});
    case 3: return blocks();
    case 4: return b_.op(Op::both, {causal, blocks()});
    case 5: return b_.op(Op::eq, {b_.op(Op::mod, {behind, b_.integer(r_.between(1, 4))}), b_.integer(0)});
    case 6: return b_.op(Op::either, {b_.op(Op::lt, {kv(), b_.integer(r_.between(0, 4))}), b_.op(Op::both, {causal, window()})});
    case 7: return b_.op(Op::lt, {kv(), b_.integer(r_.between(0, x.kv))});
    default: return b_.op(Op::lt, {b_.leaf(Op::kv_index), b_.op(Op::mul, {b_.op(Op::add, {b_.leaf(r_.of({Op::head_index, Op::batch_index})), b_.integer(r_.between(0, 1))}), b_.integer(r_.between(1, 8))})});
  }
}

int Expressions::predicate(const Extents& x, int depth) {
  if (r_.chance(45)) return pattern(x);
  if (depth <= 0 || r_.chance(30)) return comparison(x, 3);
  if (r_.chance(20)) return b_.op(Op::negation, {predicate(x, depth - 1)});
  const Op op = r_.of({Op::both, Op::either});
  return b_.op(op, {predicate(x, depth - 1), predicate(x, depth - 1)});
}

int Expressions::bias(const Extents& x) {
  const auto constant = [&] { return b_.real(r_.of({0.1, -0.05, 0.5, 1.0, -0.3})); };
  const int distance = b_.op(Op::sub, {kv(), q()});
  if (x.batch * x.q * x.kv > 0 && r_.chance(15)) return looked_up(x, Kind::real);
  switch (r_.below(8)) {
    case 0:
    case 1: return b_.op(Op::mul, {constant(), distance});
    case 2: return b_.op(Op::mul, {b_.op(Op::div, {b_.op(Op::add, {b_.leaf(Op::head_index), b_.integer(1)}), b_.real(-8.0)}), b_.op(Op::max, {distance, b_.op(Op::sub, {q(), kv()})})});
    case 3: return b_.op(Op::exp, {b_.op(Op::mul, {b_.real(-0.125), b_.op(Op::max, {distance, b_.integer(-4)})})});
    case 4: return b_.op(Op::tanh, {b_.op(Op::mul, {constant(), distance})});
    case 5: return b_.op(Op::mul, {b_.real(0.0625), b_.op(Op::mod, {integer(x, 2), b_.integer(7)})});
    case 6: return b_.op(Op::log, {b_.op(Op::add, {b_.real(1.5), b_.op(Op::max, {distance, b_.integer(0)})})});
    default: return b_.op(Op::min, {b_.op(Op::mul, {constant(), coordinate()}), b_.real(1.5)});
  }
}

std::vector<int> Expressions::algebra() {
  const int score = b_.leaf(Op::score), row_max = b_.leaf(Op::row_max), old_max = b_.leaf(Op::old_max), row_sum = b_.leaf(Op::row_sum);
  const int one = r_.chance(50) ? b_.integer(1) : b_.real(1), zero = r_.chance(50) ? b_.integer(0) : b_.real(0);
  const auto exp = [&](int x) { return b_.op(Op::exp, {x}); };
  const auto times = [&](int x, double c) { return c == 1 ? x : b_.op(Op::mul, {x, b_.real(c)}); };
  const double slope = r_.of({1.0, 1.0, 1.0, 0.5, 0.6931471805599453});
  const int weight = exp(times(b_.op(Op::sub, {score, row_max}), slope)), rescale = exp(times(b_.op(Op::sub, {old_max, row_max}), slope));
  const int cut = b_.op(Op::max, {score, zero});
  const auto over = [&](int x) { return b_.op(Op::div, {b_.real(r_.of({1.0, 1.0, -2.0})), x}); };
  switch (r_.below(16)) {
    default: return {weight, rescale, over(row_sum)};
    case 0: return {weight, rescale, over(b_.op(Op::add, {row_sum, exp(times(b_.op(Op::sub, {zero, row_max}), slope))}))};  // a sink at 0
    case 1: return {b_.op(Op::div, {one, b_.op(Op::add, {exp(b_.op(Op::sub, {zero, score})), b_.real(1)})}), one, one};      // sigmoid
    case 2: return {cut, one, over(b_.op(Op::add, {row_sum, one}))};
    case 3: return {b_.op(Op::mul, {cut, cut}), one, r_.chance(50) ? one : over(b_.op(Op::add, {row_sum, b_.real(0.5)}))};
    case 4: return {exp(b_.op(Op::min, {score, b_.real(6)})), one, over(b_.op(Op::add, {row_sum, b_.real(0.5)}))};  // without a maximum
    case 5: return {b_.op(Op::max, {b_.op(Op::tanh, {score}), zero}), one, b_.real(0.25)};
    case 6: return {b_.op(Op::max, {b_.op(Op::add, {score, one}), zero}), one, over(b_.op(Op::add, {one, row_sum}))};
    case 7: return {weight, rescale, one};  // the greatest weighs 1
    case 8: return {score, one, b_.real(0.125)};  // linear: rejected where pairs are removed
    case 9: return {b_.op(Op::add, {weight, weight}), rescale, over(b_.op(Op::max, {row_sum, b_.real(0.5)}))};
  }
}

int Expressions::row_value(const std::vector<int>& algebra) {
  const int row_sum = b_.leaf(Op::row_sum), row_max = b_.leaf(Op::row_max);
  if (b_.mentions(algebra[0], Op::row_max)) switch (r_.below(4)) {
      case 0: return b_.op(Op::add, {b_.op(Op::mul, {row_max, b_.real(0.5)}), row_sum});
      case 1: return b_.op(Op::sub, {row_max, b_.leaf(Op::head_index)});
      default: return b_.op(Op::add, {row_max, b_.op(Op::log, {row_sum})});
    }
  return r_.chance(50) ? b_.op(Op::mul, {row_sum, b_.real(0.25)}) : b_.op(Op::tanh, {b_.op(Op::mul, {row_sum, b_.real(0.1)})});
}

}  // namespace attune::fuzz
