// Row reductions: the nodes of an algebra, and softmax as one of them.
#include <attune.h>

#include <catch2/catch.hpp>
#include <cmath>

using namespace attune;

namespace {

constexpr auto square = [] { return matmul(input<1, 2, 8, 4>("q"), transpose(input<1, 2, 8, 4>("k"))); };

// The value of a part of an algebra at one state of a row.
struct Row {
  double score, row_max, old_max, row_sum;
};
double value(const Graph& g, int id, const Row& r) {
  const Node& n = g[id];
  const auto in = [&](std::size_t i) { return value(g, n.in[i], r); };
  switch (n.op) {
    case Op::constant:
      return n.type.kind == Kind::real ? n.attr.value : double(n.attr.count);
    case Op::score:
      return r.score;
    case Op::row_max:
      return r.row_max;
    case Op::old_max:
      return r.old_max;
    case Op::row_sum:
      return r.row_sum;
    case Op::add:
      return in(0) + in(1);
    case Op::sub:
      return in(0) - in(1);
    case Op::mul:
      return in(0) * in(1);
    case Op::div:
      return in(0) / in(1);
    case Op::max:
      return std::max(in(0), in(1));
    case Op::exp:
      return std::exp(in(0));
    case Op::log:
      return std::log(in(0));
    default:
      throw std::logic_error("not an op of these algebras");
  }
}

// Scores that carry a sink of logit 0, and those without a maximum.
constexpr auto softmax_one = algebra(exp(score - row_max), exp(old_max - row_max), 1 / (row_sum + exp(-row_max)));
constexpr auto sigmoid = algebra(1 / (1 + exp(-score)), 1, 1);
constexpr auto relu = algebra(max(score, 0), 1, 1.0 / max(row_sum, 1e-6));

const Node& reduction_of(const Graph& g) { return g[g.outputs[0].node]; }

}  // namespace

TEST_CASE("a reduction's operands are the scores, weight, rescale and scale") {
  const Graph g = graph_of([] { return softmax(square()); });
  const Node& n = reduction_of(g);
  REQUIRE(n.op == Op::reduce_rows);
  REQUIRE(n.operands() == 4);
  CHECK(g[n.in[0]].op == Op::matmul);
  const Row r{1.5, 2.0, -0.5, 3.25};
  CHECK(value(g, n.in[1], r) == Approx(std::exp(1.5 - 2.0)));
  CHECK(value(g, n.in[2], r) == Approx(std::exp(-0.5 - 2.0)));
  CHECK(value(g, n.in[3], r) == Approx(1 / 3.25));
}

TEST_CASE("algebras of a user's own") {
  const Row r{1.5, 2.0, -0.5, 3.25};
  const Graph one = graph_of([] { return row_reduction(square(), softmax_one); });
  CHECK(value(one, reduction_of(one).in[3], r) == Approx(1 / (3.25 + std::exp(-2.0))));
  const Graph s = graph_of([] { return row_reduction(square(), sigmoid); });
  CHECK(value(s, reduction_of(s).in[1], r) == Approx(1 / (1 + std::exp(-1.5))));
  CHECK(value(s, reduction_of(s).in[2], r) == 1);
  CHECK(value(s, reduction_of(s).in[3], r) == 1);
  const Graph p = graph_of([] { return row_reduction(mask(square(), kv_index <= q_index), relu); });
  CHECK(value(p, reduction_of(p).in[1], {-1, 0, 0, 0}) == 0);
  CHECK(value(p, reduction_of(p).in[3], {0, 0, 0, 0}) == Approx(1e6));
}

TEST_CASE("a row's value has the weights of its reduction, and a value in place of the scale") {
  const Graph g = graph_of([] { return outputs("lse"_out = logsumexp(square()), "p"_out = softmax(square())); });
  const Node &value = g[g.outputs[0].node], &weights = g[g.outputs[1].node];
  REQUIRE(value.op == Op::row_value);
  for (std::size_t i : {0, 1, 2}) CHECK(value.in[i] == weights.in[i]);
  CHECK(::value(g, value.in[3], {1.5, 2.0, -0.5, 3.25}) == Approx(2 + std::log(3.25)));
}

TEST_CASE("softmax is the reduction by softmax_algebra") {
  const Graph g = graph_of([] { return softmax(square()) + row_reduction(square(), softmax_algebra); });
  CHECK(reduction_of(g).in[0] == reduction_of(g).in[1]);
}
