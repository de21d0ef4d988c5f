// Each op of the interpreter on its own.
#include <zoo/textbook.h>

#include <catch2/catch.hpp>
#include <complex>

#include "graph/reference.h"

using namespace attune;
using namespace reference;

TEST_CASE("linear is x W^T + b") {
  const Graph g = graph_of([] { return linear<3>(input<2, 2>("x"), "w", "b"); });
  const Array y = only_output(g, {{"x", {1, 2, 3, 4}}, {"w", {1, 0, 0, 1, 1, 1}}, {"b", {10, 20, 30}}});
  CHECK(y.dims == Dims{2, {2, 3}});
  CHECK(y.v == std::vector<double>{11, 22, 33, 13, 24, 37});
}

TEST_CASE("heads are split from features and merged back") {
  const Bindings b{{"x", {0, 1, 2, 3, 4, 5, 6, 7}}};  // two tokens of two heads of two features
  CHECK(only_output(graph_of([] { return split_heads<2>(input<1, 2, 4>("x")); }), b).v == std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(only_output(graph_of([] { return merge_heads(input<1, 2, 2, 2>("x")); }), b).v == std::vector<double>{0, 1, 4, 5, 2, 3, 6, 7});
  CHECK(only_output(graph_of([] { return merge_heads(split_heads<4>(input<2, 1, 4>("x"))); }), b).v == std::vector<double>{0, 1, 2, 3, 4, 5, 6, 7});
  CHECK(only_output(graph_of([] { return repeat_heads<2>(input<1, 2, 2, 2>("x")); }), b).v == std::vector<double>{0, 1, 2, 3, 0, 1, 2, 3, 4, 5, 6, 7, 4, 5, 6, 7});
  CHECK(only_output(graph_of([] { return transpose(input<2, 2, 2>("x")); }), b).v == std::vector<double>{0, 2, 1, 3, 4, 6, 5, 7});
}

TEST_CASE("a row's value is a function of its sum and its maximum") {
  // Rows 0 to 2 keep none, one and two keys of scores 2 and -1.
  const auto of = [](auto a, auto value) {
    const Graph g = graph_of([=] { return row_value(mask(matmul(input<1, 1, 3, 1>("q"), transpose(input<1, 1, 2, 1>("k"))), kv_index < q_index), a, value); });
    return only_output(g, {{"q", {1, 1, 1}}, {"k", {2, -1}}});
  };
  constexpr auto one = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(-row_max)));
  const Array lse = of(softmax_algebra, row_max + log(row_sum));
  CHECK(lse.dims == Dims{3, {1, 1, 3}});
  CHECK(lse.v[0] == -infinity);
  CHECK(lse.v[1] == 2);
  CHECK(lse.v[2] == Approx(std::log(std::exp(2) + std::exp(-1))).epsilon(1e-14));
  const Array with_one = of(one, row_max + log(row_sum + exp(-row_max)));
  CHECK(with_one.v[0] == 0);
  CHECK(with_one.v[2] == Approx(std::log(1 + std::exp(2) + std::exp(-1))).epsilon(1e-14));
  CHECK(of(softmax_algebra, row_max).v == Doubles{-infinity, 2, 2});
  CHECK(of(algebra(max(score, 0), 1, 1), row_sum + q_index).v == Doubles{0, 3, 4});
  // NUMERICS: 16u (1 + S + |LSE|), with what the greatest score's own rounding is besides.
  const double wanted = 16 * unit * (1 + 2 + lse.v[2]);
  CHECK(lse.bound[2] >= wanted * 0.999);
  CHECK(lse.bound[2] <= wanted + 8 * unit * 2);
}

TEST_CASE("unsqueeze keeps the elements in order") {
  const Array y = only_output(graph_of([] { return unsqueeze<1>(input<2, 3>("x")) + input<2, 1>("y"); }), {{"x", {1, 2, 3, 4, 5, 6}}, {"y", {10, 20}}});
  CHECK(y.dims == Dims{3, {2, 2, 3}});
  CHECK(y.v == Doubles{11, 12, 13, 21, 22, 23, 14, 15, 16, 24, 25, 26});
}

TEST_CASE("features are those of a row from one on") {
  CHECK(only_output(graph_of([] { return features<1, 2>(input<2, 3>("x")); }), {{"x", {1, 2, 3, 4, 5, 6}}}).v == Doubles{2, 3, 5, 6});
  const Array y = only_output(graph_of([] { return features<2, 1>(split_heads<2>(input<1, 2, 6>("x"))); }), {{"x", {1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12}}});
  CHECK(y.dims == Dims{4, {1, 2, 2, 1}});
  CHECK(y.v == Doubles{3, 9, 6, 12});
  CHECK(only_output(graph_of([] { return features<3, 1>(input<4>("x")); }), {{"x", {1, 2, 3, 4}}}).v == Doubles{4});
}

TEST_CASE("a factor of a removed pair is nothing, whatever it holds") {
  const Graph g = graph_of([] { return matmul(softmax(mask(matmul(input<1, 1, 2, 1>("q"), transpose(input<1, 1, 2, 1>("k"))), kv_index <= q_index)) * input<2, 2>("f"), input<1, 1, 2, 1>("v")); });
  for (float odd : {quiet_nan, float(infinity)}) CHECK(only_output(g, {{"q", {0, 0}}, {"k", {1, 1}}, {"f", {3, odd, 2, 4}}, {"v", {5, 1}}}).v == Doubles{15, 7});
}

TEST_CASE("rope turns pairs of features as complex numbers") {
  constexpr long seq = 4, dim = 10;
  const auto expected = [](const Floats& x, Rotation how) {
    const long rotated = how.dims ? how.dims : dim;
    Doubles r(x.begin(), x.end());
    for (long row = 0; row < long(x.size()) / dim; ++row)
      for (long pair = 0; pair < rotated / 2; ++pair) {
        const bool adjacent = how.pairs == Pairs::interleaved;
        double& re = r[std::size_t(row * dim + (adjacent ? 2 * pair : pair))];
        double& im = r[std::size_t(row * dim + (adjacent ? 2 * pair + 1 : pair + rotated / 2))];
        const double angle = double(row % seq + how.offset) / std::pow(how.base, 2.0 * double(pair) / double(rotated));
        const std::complex<double> z = std::complex<double>(re, im) * std::exp(std::complex<double>(0, angle));
        re = z.real();
        im = z.imag();
      }
    return r;
  };
  for (Rotation how : {Rotation{}, Rotation{.base = 500, .pairs = half_split}, Rotation{.dims = 4, .offset = 7}, Rotation{.pairs = half_split, .dims = 6, .offset = -2}}) {
    const Graph g = graph_of([how] { return rope(input<2, 3, seq, dim>("x"), how); });
    const Bindings b = standard_inputs(g, 20);
    CHECK(distance(only_output(g, b).v, expected(b.at("x"), how)) < 1e-14);
  }
}

TEST_CASE("rope keeps products of equal distance") {
  const Graph g = graph_of([] { return matmul(rope(input<1, 1, 6, 4>("q")), transpose(rope(input<1, 1, 6, 4>("k")))); });
  Bindings b{{"q", {}}, {"k", {}}};
  for (int i = 0; i < 6; ++i) {
    b["q"].insert(b["q"].end(), {1, 2, 3, 4});
    b["k"].insert(b["k"].end(), {-1, 0.5f, 2, 1});
  }
  const Array s = only_output(g, b);
  for (std::size_t i = 1; i < 6; ++i)
    for (std::size_t j = 1; j < 6; ++j) CHECK(s.v[i * 6 + j] == Approx(s.v[(i - 1) * 6 + j - 1]).epsilon(1e-13));
  CHECK(s.v[1] != Approx(s.v[0]));
}

TEST_CASE("elementwise ops broadcast and take numbers on either side") {
  const Bindings b{{"x", {1, 2, 3, 4, 5, 6}}, {"y", {10, 20, 30}}, {"z", {1, -1}}};
  const auto of = [&](auto spec) { return only_output(graph_of(spec), b).v; };
  CHECK(of([] { return input<2, 3>("x") + input<3>("y"); }) == std::vector<double>{11, 22, 33, 14, 25, 36});
  CHECK(of([] { return input<2, 3>("x") * input<2, 1>("z"); }) == std::vector<double>{1, 2, 3, -4, -5, -6});
  CHECK(of([] { return input<3>("y") - input<2, 1>("z"); }) == std::vector<double>{9, 19, 29, 11, 21, 31});
  CHECK(of([] { return 60 / input<2, 3>("x"); }) == std::vector<double>{60, 30, 20, 15, 12, 10});
  CHECK(of([] { return max(min(input<2, 3>("x"), 4), 2.5); }) == std::vector<double>{2.5, 2.5, 3, 4, 4, 4});
  CHECK(of([] { return -input<3>("y"); }) == std::vector<double>{-10, -20, -30});
  CHECK(of([] { return exp(input<2, 1>("z")); }) == std::vector<double>{std::exp(1.0), std::exp(-1.0)});
  CHECK(of([] { return tanh(input<2, 1>("z")); }) == std::vector<double>{std::tanh(1.0), std::tanh(-1.0)});
}

TEST_CASE("minimum, maximum and tanh of what is not finite") {
  const float inf = float(infinity);
  const Bindings b{{"x", {quiet_nan, inf, -inf}}};
  const auto of = [&](auto spec) { return only_output(graph_of(spec), b).v; };
  CHECK(distance(of([] { return max(input<3>("x"), 0); }), {double(quiet_nan), infinity, 0}) == 0);
  CHECK(distance(of([] { return min(0, input<3>("x")); }), {double(quiet_nan), 0, -infinity}) == 0);
  CHECK(distance(of([] { return tanh(input<3>("x")); }), {double(quiet_nan), 1, -1}) == 0);
  CHECK(distance(of([] { return exp(input<3>("x")); }), {double(quiet_nan), infinity, 0}) == 0);
}

TEST_CASE("index expressions are integer or real as written") {
  // Scores of 0, so that the sum is the expression at (batch, head, q, kv).
  const auto at_all = [](auto expression) {
    const Graph g = graph_of([=] { return matmul(input<1, 2, 2, 1>("q"), transpose(input<1, 2, 3, 1>("k"))) + expression; });
    return only_output(g, {{"q", Floats(4)}, {"k", Floats(6)}}).v;
  };
  CHECK(at_all(100 * head_index + 10 * q_index + kv_index) == std::vector<double>{0, 1, 2, 10, 11, 12, 100, 101, 102, 110, 111, 112});
  CHECK(at_all((kv_index - 1) / 2) == std::vector<double>{-1, 0, 0, -1, 0, 0, -1, 0, 0, -1, 0, 0});
  CHECK(at_all((kv_index - 1) / 2.0) == std::vector<double>{-0.5, 0, 0.5, -0.5, 0, 0.5, -0.5, 0, 0.5, -0.5, 0, 0.5});
  CHECK(at_all(max(kv_index, 1) - min(q_index, kv_index)) == std::vector<double>{1, 1, 2, 1, 0, 1, 1, 1, 2, 1, 0, 1});
  CHECK(at_all(exp(0.5 * kv_index))[2] == std::exp(1.0));
}

TEST_CASE("reductions other than softmax") {
  // Scores 1, -2, 3 and a removed one.
  const auto of = [](auto algebra) {
    const Graph g = graph_of([=] {
      auto s = mask(matmul(input<1, 1, 1, 1>("q"), transpose(input<1, 1, 4, 1>("k"))), kv_index < 3);
      return row_reduction(s, algebra);
    });
    return only_output(g, {{"q", {1}}, {"k", {1, -2, 3, quiet_nan}}}).v;
  };
  const double e1 = std::exp(1.0), e2 = std::exp(-2.0), e3 = std::exp(3.0);
  CHECK(distance(of(softmax_algebra), {e1 / (e1 + e2 + e3), e2 / (e1 + e2 + e3), e3 / (e1 + e2 + e3), 0}) < 1e-15);
  const auto softmax_one = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(0 - row_max)));
  CHECK(distance(of(softmax_one), {e1 / (1 + e1 + e2 + e3), e2 / (1 + e1 + e2 + e3), e3 / (1 + e1 + e2 + e3), 0}) < 1e-15);
  CHECK(distance(of(algebra(1.0 / (1.0 + exp(0 - score)), 1, 1)), {1 / (1 + 1 / e1), 1 / (1 + 1 / e2), 1 / (1 + 1 / e3), 0}) < 1e-15);
  CHECK(distance(of(algebra(max(score, 0.0), 1, 1.0 / row_sum)), {0.25, 0, 0.75, 0}) < 1e-15);
}

TEST_CASE("exp of scores is a weight too, and removed pairs stay removed") {
  const Graph g = graph_of([] {
    auto s = mask(matmul(input<1, 1, 2, 1>("q"), transpose(input<1, 1, 2, 1>("k"))), zoo::causal);
    return matmul(exp(s), input<1, 1, 2, 1>("v"));
  });
  const Array y = only_output(g, {{"q", {0, 1}}, {"k", {1, 2}}, {"v", {3, quiet_nan}}});
  CHECK(y.v[0] == 3);
  CHECK(std::isnan(y.v[1]));
}

TEST_CASE("inner nodes can be asked for") {
  const Graph g = graph_of(zoo::sdpa<1, 1, 2, 1, true>);
  const Bindings b{{"q", {1, 2}}, {"k", {3, 4}}, {"v", {5, 6}}};
  for (int i = 0; i < int(g.size()); ++i) {
    if (g[i].op == Op::matmul && g[i].type.kind == Kind::scores) CHECK(interpret_node(g, i, b).v == std::vector<double>{3, 4, 6, 8});
    if (g[i].op == Op::transpose) CHECK(interpret_node(g, i, {{"k", {3, 4}}}).v == std::vector<double>{3, 4});  // needs no other input
    if (g[i].op == Op::le) CHECK_THROWS_WITH(interpret_node(g, i, b), Catch::Contains("kv_index <= q_index"));
  }
}

TEST_CASE("missing and wrong-sized bindings are named") {
  const Graph g = graph_of([] { return linear<2>(input<1, 3>("x"), "w"); });
  CHECK_THROWS_AS(interpret_outputs(g, {}), std::invalid_argument);
  CHECK_THROWS_WITH(interpret_outputs(g, {{"w", Floats(6)}}), "input 'x': expected 3 values, found none");
  CHECK_THROWS_WITH(interpret_outputs(g, {{"x", Floats(3)}, {"w", Floats(5)}}), "weight 'w': expected 6 values, found 5");
  CHECK_NOTHROW(interpret_outputs(g, {{"x", Floats(3)}, {"w", Floats(6)}, {"unused", {}}}));
}
