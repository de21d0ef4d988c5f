// The error bounds: equal to NUMERICS' formula where there is one, kept by f32 code, and no looser
// than the errors that they allow for.
#include <zoo/textbook.h>

#include <catch2/catch.hpp>

#include "graph/reference.h"

using namespace attune;
using namespace reference;

namespace {

// The largest ratio of two bounds to 1, either way.
double disagreement(const Doubles& a, const Doubles& b) {
  REQUIRE(a.size() == b.size());
  double r = 0;
  for (std::size_t i = 0; i < a.size(); ++i) r = std::max(r, std::abs(a[i] - b[i]) / std::max(std::abs(a[i]), std::abs(b[i])));
  return r;
}

double largest_ratio(const Doubles& error, const Doubles& bound) {
  double r = 0;
  for (std::size_t i = 0; i < error.size(); ++i) r = std::max(r, std::abs(error[i]) / bound[i]);
  return r;
}

Doubles difference(const Doubles& a, const Doubles& b) {
  Doubles r(a.size());
  for (std::size_t i = 0; i < r.size(); ++i) r[i] = a[i] - b[i];
  return r;
}

int find(const Graph& g, Op op, int skip = 0) {
  for (int i = 0; i < int(g.size()); ++i)
    if (g[i].op == op && skip-- == 0) return i;
  FAIL("no such op");
  return -1;
}

}  // namespace

TEST_CASE("the bound of attention is 16u (1 + S) sum p |v|, plus 2^-126 per kept pair") {
  const double scale = 1 / std::sqrt(8.0);
  const Graph causal = graph_of(zoo::sdpa<2, 2, 9, 8, true>), full = graph_of(zoo::sdpa<2, 2, 9, 8, false>);
  for (float size : {1.0f, 30.0f, 1e-3f}) {
    Bindings b = standard_inputs(causal, 30);
    for (float& x : b["q"]) x *= size;
    const auto of = [&](auto score) { return attention({2, 2, 9, 9, 8, 8}, b.at("q"), b.at("k"), b.at("v"), score, scale).bound; };
    CHECK(disagreement(only_output(full, b).bound, of([=](long, long, long, long, double dot) { return dot * scale; })) < 1e-7);
    CHECK(disagreement(only_output(causal, b).bound, of([=](long, long, long i, long j, double dot) { return j <= i ? dot * scale : -infinity; })) < 1e-7);
  }
}

TEST_CASE("a bias counts in S") {
  const Graph g = graph_of([] { return matmul(softmax(matmul(input<1, 1, 4, 3>("q"), transpose(input<1, 1, 5, 3>("k"))) * -2.0 - 7), input<1, 1, 5, 3>("v")); });
  const Bindings b = standard_inputs(g, 31);
  const auto expected = attention(
      {1, 1, 4, 5, 3, 3}, b.at("q"), b.at("k"), b.at("v"), [](long, long, long, long, double dot) { return -2 * dot - 7; }, -2, -7);
  CHECK(disagreement(only_output(g, b).bound, expected.bound) < 1e-7);
}

TEST_CASE("the bound of a projection is 8u sqrt(K) sum |x w|, and passes on what x brings") {
  const Graph g = graph_of([] {
    auto y = linear<3>(input<2, 5>("x"), "w");
    return outputs("y"_out = y, "z"_out = linear<4>(y, "w2", "b2"));
  });
  const Bindings b = standard_inputs(g, 32);
  const auto results = interpret_outputs(g, b);
  const Array &y = results[0], &z = results[1];
  for (std::size_t row = 0; row < 2; ++row) {
    for (std::size_t o = 0; o < 3; ++o) {
      double sum = 0;
      for (std::size_t i = 0; i < 5; ++i) sum += std::abs(double(b.at("x")[row * 5 + i]) * double(b.at("w")[o * 5 + i]));
      CHECK(y.bound[row * 3 + o] == Approx(8 * unit * std::sqrt(5.0) * sum).epsilon(1e-12));
    }
    for (std::size_t o = 0; o < 4; ++o) {
      double sum = 0, carried = 0;
      for (std::size_t i = 0; i < 3; ++i) {
        sum += std::abs(y.v[row * 3 + i] * double(b.at("w2")[o * 3 + i]));
        carried += y.bound[row * 3 + i] * std::abs(double(b.at("w2")[o * 3 + i]));
      }
      CHECK(z.bound[row * 4 + o] == Approx(8 * unit * (std::sqrt(3.0) * sum + std::abs(double(b.at("b2")[o]))) + carried).epsilon(1e-12));
    }
  }
}

TEST_CASE("the bound is proportional to the values") {
  const Graph g = graph_of(zoo::sdpa<1, 2, 6, 4, true>);
  const Bindings b = standard_inputs(g, 33);
  Bindings twice = b;
  for (float& v : twice["v"]) v *= 2;
  Doubles expected = only_output(g, b).bound;
  for (double& e : expected) e *= 2;
  CHECK(disagreement(only_output(g, twice).bound, expected) < 1e-12);
}

TEST_CASE("f32 code as a textbook has it stays within the bounds of a block") {
  constexpr long seq = 33, model = 24, heads = 3, head_dim = model / heads;
  const Graph g = graph_of(zoo::textbook_mha_plain<1, seq, model, heads>);
  const Bindings b = standard_inputs(g, 34);
  const auto project = [](const Floats& x, const Floats& w) {
    Floats r(std::size_t(seq * model));
    for (std::size_t i = 0; i < r.size(); ++i)
      for (std::size_t k = 0; k < model; ++k) r[i] += x[i / model * model + k] * w[i % model * model + k];
    return r;
  };
  const Floats q = project(b.at("x"), b.at("wq")), k = project(b.at("x"), b.at("wk")), v = project(b.at("x"), b.at("wv"));
  Floats mixed(q.size());
  for (std::size_t h = 0; h < heads; ++h)
    for (std::size_t i = 0; i < seq; ++i) {
      Floats p;
      float sum = 0, most = -float(infinity);
      for (std::size_t j = 0; j <= i; ++j) {
        float s = 0;
        for (std::size_t d = h * head_dim; d < (h + 1) * head_dim; ++d) s += q[i * model + d] * k[j * model + d];
        p.push_back(s / std::sqrt(float(head_dim)));
        most = std::max(most, p.back());
      }
      for (float& e : p) sum += e = std::exp(e - most);
      for (std::size_t j = 0; j <= i; ++j)
        for (std::size_t d = h * head_dim; d < (h + 1) * head_dim; ++d) mixed[i * model + d] += p[j] / sum * v[j * model + d];
    }
  const Floats y = project(mixed, b.at("wo"));
  const Array exact = only_output(g, b);
  const double used = largest_ratio(difference(Doubles(y.begin(), y.end()), exact.v), exact.bound);
  CHECK(used < 1);
  CHECK(used > 1e-4);  // a bound that nothing comes near says nothing
}

TEST_CASE("what the bounds of q, k and v allow for stays within the bound of attention") {
  // q, k and v of a block, moved to the ends of their bounds at random.
  constexpr long seq = 9, model = 12, heads = 2;
  const Graph block = graph_of(zoo::textbook_mha<1, seq, model, heads>), alone = graph_of(zoo::sdpa<1, heads, seq, model / heads, true>);
  const Bindings b = standard_inputs(block, 35);
  const Array q = interpret_node(block, find(block, Op::rope, 0), b), k = interpret_node(block, find(block, Op::rope, 1), b);
  const Array v = interpret_node(block, find(block, Op::split_heads, 2), b);
  const Array y = interpret_node(block, find(block, Op::matmul, 1), b);
  std::mt19937 random(36);
  double used = 0;
  for (int trial = 0; trial < 50; ++trial) {
    const auto moved = [&](const Array& x) {
      Floats r;
      for (std::size_t i = 0; i < x.v.size(); ++i) r.push_back(float(x.v[i] + (random() % 2 ? 0.9 : -0.9) * x.bound[i]));
      return r;
    };
    used = std::max(used, largest_ratio(difference(only_output(alone, {{"q", moved(q)}, {"k", moved(k)}, {"v", moved(v)}}).v, y.v), y.bound));
  }
  CHECK(used < 1);
  CHECK(used > 0.1);
}

TEST_CASE("a rotation mixes the bounds of its pair, other features keep theirs") {
  const Graph g = graph_of([] { return rope(split_heads<1>(linear<4>(input<1, 2, 3>("x"), "w")), {.dims = 2}); });
  const Bindings b = standard_inputs(g, 37);
  const Array x = interpret_node(g, find(g, Op::split_heads), b), y = only_output(g, b);
  const double c = std::cos(1.0), s = std::sin(1.0);
  CHECK(y.bound[4] == Approx(c * x.bound[4] + s * x.bound[5] + 4 * unit * (c * std::abs(x.v[4]) + s * std::abs(x.v[5]))).epsilon(1e-12));
  CHECK(y.bound[5] == Approx(s * x.bound[4] + c * x.bound[5] + 4 * unit * (s * std::abs(x.v[4]) + c * std::abs(x.v[5]))).epsilon(1e-12));
  CHECK(y.bound[6] == x.bound[6]);
  CHECK(y.bound[7] == x.bound[7]);
}

TEST_CASE("elementwise ops carry bounds by their slope") {
  const Graph g = graph_of([] {
    auto y = linear<2>(input<1, 2>("x"), "w");
    return outputs("y"_out = y, "e"_out = exp(y), "t"_out = tanh(y), "r"_out = 1 / y, "s"_out = y * y);
  });
  const auto results = interpret_outputs(g, {{"x", {1.5f, 0.25f}}, {"w", {1, 2, -3, 0.5f}}});
  const auto named = [&](std::string_view name) {
    for (std::size_t i = 0; i < results.size(); ++i)
      if (g.outputs[i].name == name) return results[i];
    return Array{};
  };
  const Array y = named("y");
  for (std::size_t i = 0; i < 2; ++i) {
    const double x = y.v[i], e = y.bound[i], t = std::tanh(x);
    CHECK(named("e").bound[i] == Approx(std::exp(x) * (e + 16 * unit * (1 + std::abs(x)))).epsilon(1e-4));
    CHECK(named("t").bound[i] == Approx((1 - t * t) * e + 2 * unit * std::abs(t) + 0x1p-22).epsilon(1e-4));
    CHECK(named("r").bound[i] == Approx(e / (x * x) + 2 * unit / std::abs(x)).epsilon(1e-4));
    CHECK(named("s").bound[i] == Approx(2 * std::abs(x) * e + 2 * unit * x * x).epsilon(1e-4));
  }
}

TEST_CASE("a reduction steeper than exp has a bound that covers its scores' rounding") {
  // relu: a score of 1e-6 that came of terms of size 1 may as well have been rounded to 0.
  const Graph g = graph_of([] { return row_reduction(matmul(input<1, 1, 1, 2>("q"), transpose(input<1, 1, 2, 2>("k"))), algebra(max(score, 0.0), 1, 1.0 / row_sum)); });
  const Bindings b{{"q", {1, 1}}, {"k", {1, -0.999999f, 1e-6f, 0}}};
  const Array p = only_output(g, b);
  CHECK(p.v[0] == Approx(0.5).epsilon(0.1));
  CHECK(p.bound[0] > 0.5);  // of sum |q k| = 2 the rounding may be 2e-6
  const Array certain = only_output(g, {{"q", {1, 1}}, {"k", {1, -0.5f, 0.5f, 0}}});
  CHECK(certain.v[0] == Approx(0.5));
  CHECK(certain.bound[0] < 1e-5);
}

TEST_CASE("scores of their own are bound by 16u sum |q k|") {
  const Graph g = graph_of([] { return matmul(input<1, 1, 1, 2>("q"), transpose(input<1, 1, 1, 2>("k"))); });
  const Array s = only_output(g, {{"q", {1, 3}}, {"k", {5, -2}}});
  CHECK(s.v[0] == -1);
  CHECK(s.bound[0] == Approx(16 * unit * 11).epsilon(1e-12));
}

TEST_CASE("what counts as 0 for being less than the least normal number is in every bound behind it") {
  const float tiny = 0x1p-70f, small = 0x1p-60f;  // their product is subnormal
  const auto covers = [](const Array& y) {        // an f32 kernel that flushes has 0 here
    CHECK(y.v[0] > 0x1p-126);
    CHECK(y.bound[0] >= y.v[0]);
  };
  const Graph projected = graph_of([] { return linear<1>(input<1, 1, 4>("x"), "w") * 8; });
  covers(only_output(projected, {{"x", {tiny, tiny, tiny, tiny}}, {"w", {small, small, small, small}}}));
  const Graph scores = graph_of([] { return matmul(input<1, 1, 1, 4>("q"), transpose(input<1, 1, 1, 4>("k"))) * 8; });
  covers(only_output(scores, {{"q", {tiny, tiny, tiny, tiny}}, {"k", {small, small, small, small}}}));
  const Graph rotated = graph_of([] { return rope(input<1, 1, 1, 2>("x")) * input<1>("y") * 32; });
  covers(only_output(rotated, {{"x", {tiny, tiny}}, {"y", {small}}}));
  // A probability of e^-87.5, less than 2^-126, and its product with 8.
  const Graph weight = graph_of([] { return softmax(matmul(input<1, 1, 1, 1>("q"), transpose(input<1, 1, 2, 1>("k")))) * input<1>("x"); });
  covers(only_output(weight, {{"q", {1}}, {"k", {-87.5f, 0}}, {"x", {8}}}));
}

TEST_CASE("bounds are 0 where the value is not finite") {
  const Graph g = graph_of(zoo::textbook_mha_plain<1, 2, 2, 1>);
  Bindings b = standard_inputs(g, 38);
  b["x"][2] = quiet_nan;  // token 1
  const Array y = only_output(g, b);
  CHECK((std::isfinite(y.v[0]) && y.bound[0] > 0 && y.bound[0] < 1e-3));
  CHECK((std::isnan(y.v[2]) && y.bound[2] == 0));
}

TEST_CASE("a constant that is no float is rounded, and the bound says so") {
  const Graph g = graph_of([] { return 0.1 - input<1>("x"); });
  const Array y = only_output(g, {{"x", {0.09999f}}});
  CHECK(y.bound[0] >= std::abs(0.1 - double(0.1f)));
}
