// The interpreter on whole attentions, against the formula and the promises of the kernels.
#include <zoo/textbook.h>

#include <catch2/catch.hpp>
#include <cfloat>

#include "graph/reference.h"

using namespace attune;
using namespace reference;

namespace {

const auto causal_score = [](double scale) {
  return [scale](long, long, long i, long j, double dot) { return j <= i ? dot * scale : -infinity; };
};

// sdpa<1, 1, 3, 2, true> with easy numbers.
Bindings three_tokens() {
  return {{"q", {1, 2, -1, 0.5f, 0.25f, 3}}, {"k", {0.5f, 1, 1, -1, 2, 0}}, {"v", {1, 2, 3, 4, 5, 6}}};
}

}  // namespace

TEST_CASE("queries of zero weigh all kept values alike") {
  const Graph full = graph_of(zoo::sdpa<1, 1, 4, 1, false>), causal = graph_of(zoo::sdpa<1, 1, 4, 1, true>);
  const Bindings b{{"q", {0, 0, 0, 0}}, {"k", {1, -2, 3, 5}}, {"v", {1, 2, 6, 7}}};
  CHECK(distance(only_output(full, b).v, {4, 4, 4, 4}) < 1e-14);
  CHECK(distance(only_output(causal, b).v, {1, 1.5, 3, 4}) < 1e-14);
}

TEST_CASE("two keys are weighed by a sigmoid of the difference of their scores") {
  const Graph g = graph_of([] {
    auto q = input<1, 1, 1, 1>("q");
    auto k = input<1, 1, 2, 1>("k");
    auto v = input<1, 1, 2, 1>("v");
    return matmul(softmax(matmul(q, transpose(k))), v);
  });
  for (float q : {-1e4f, -3.0f, 0.0f, 0.5f, 1e4f}) {
    const double p = 1 / (1 + std::exp(-2.0 * double(q)));
    CHECK(distance(only_output(g, {{"q", {q}}, {"k", {3, 1}}, {"v", {1, 0}}}).v, {p}) < 1e-15);
  }
}

TEST_CASE("scaled dot-product attention is its formula") {
  const Graph g = graph_of(zoo::sdpa<2, 3, 7, 5, true>);
  const Bindings b = standard_inputs(g, 1);
  const double scale = 1 / std::sqrt(5.0);
  const Array y = only_output(g, b);
  CHECK(y.dims == Dims{4, {2, 3, 7, 5}});
  CHECK(distance(y.v, attention({2, 3, 7, 7, 5, 5}, b.at("q"), b.at("k"), b.at("v"), causal_score(scale)).y) < 1e-14);
}

TEST_CASE("removed pairs contribute nothing, whatever K and V hold there") {
  const Graph g = graph_of(zoo::sdpa<1, 1, 3, 2, true>);
  const std::vector<double> clean = only_output(g, three_tokens()).v;
  for (float garbage : {1e30f, quiet_nan, float(infinity), -float(infinity)}) {
    Bindings b = three_tokens();
    b["k"][4] = b["v"][5] = garbage;  // token 2
    const Array y = only_output(g, b);
    CHECK(std::vector<double>(y.v.begin(), y.v.begin() + 4) == std::vector<double>(clean.begin(), clean.begin() + 4));
    for (std::size_t i = 0; i < 4; ++i) CHECK((y.bound[i] > 0 && y.bound[i] < 1e-4));
  }
}

TEST_CASE("NaN and infinity spread to their row or column and no further") {
  const Graph g = graph_of(zoo::sdpa<1, 1, 3, 2, true>);
  const std::vector<double> clean = only_output(g, three_tokens()).v;
  SECTION("a NaN in a query makes its row NaN") {
    Bindings b = three_tokens();
    b["q"][2] = quiet_nan;
    const Array y = only_output(g, b);
    CHECK(distance(y.v, {clean[0], clean[1], double(quiet_nan), double(quiet_nan), clean[4], clean[5]}) == 0);
  }
  SECTION("a score of +inf makes its row NaN") {
    Bindings b = three_tokens();
    b["q"][3] = -float(infinity);  // times k of token 1: +inf; of token 0: -inf
    CHECK(std::isnan(only_output(g, b).v[2]));
    CHECK(std::isnan(only_output(g, b).v[3]));
  }
  SECTION("a NaN in a value makes that column of the rows that keep it NaN") {
    Bindings b = three_tokens();
    b["v"][2] = quiet_nan;
    CHECK(distance(only_output(g, b).v, {clean[0], clean[1], double(quiet_nan), clean[3], double(quiet_nan), clean[5]}) == 0);
  }
  SECTION("an infinite value makes its column infinite") {
    Bindings b = three_tokens();
    b["v"][3] = float(infinity);
    CHECK(distance(only_output(g, b).v, {clean[0], clean[1], clean[2], infinity, clean[4], infinity}) == 0);
  }
}

TEST_CASE("a bias removes pairs by -inf, not by the most negative float") {
  const Graph g = graph_of([] {
    auto q = input<1, 1, 2, 1>("q");
    auto k = input<1, 1, 2, 1>("k");
    auto v = input<1, 1, 2, 1>("v");
    return matmul(softmax(matmul(q, transpose(k)) + input<1, 1, 2, 2>("bias")), v);
  });
  const float minus_inf = -float(infinity);
  const auto with = [&](Floats bias, Floats v) { return only_output(g, {{"q", {1, 2}}, {"k", {3, 4}}, {"v", v}, {"bias", bias}}); };
  SECTION("a removed value is never read") {
    CHECK(with({0, minus_inf, 0, 0}, {5, quiet_nan}).v[0] == 5);
    CHECK(std::isnan(with({0, minus_inf, 0, 0}, {5, quiet_nan}).v[1]));
  }
  SECTION("a row that keeps nothing is 0, and exactly so") {
    const Array y = with({minus_inf, minus_inf, 0, minus_inf}, {5, 7});
    CHECK(y.v == std::vector<double>{0, 5});
    CHECK(y.bound[0] == 0);
  }
  SECTION("a row of the most negative float is finite") {
    const Array y = with({-FLT_MAX, -FLT_MAX, -FLT_MAX, -FLT_MAX}, {5, 7});
    CHECK(y.v[0] > 5);
    CHECK(y.v[0] < 7);
  }
}

TEST_CASE("kept pairs stay exact beside removed ones when all scores are far below 0") {
  const Graph g = graph_of([] {
    auto q = input<1, 1, 1, 1>("q");
    auto k = input<1, 1, 6, 1>("k");
    auto v = input<1, 1, 6, 1>("v");
    return matmul(softmax(mask(matmul(q, transpose(k)), 4 <= kv_index)), v);
  });
  const Array y = only_output(g, {{"q", {-1}}, {"k", {0, 0, 0, 0, 200, 200}}, {"v", {9, 9, 9, 9, 1, 2}}});
  CHECK(y.v[0] == Approx(1.5).epsilon(1e-14));
}

TEST_CASE("adding a constant to a row of scores changes nothing") {
  const Graph g = graph_of([] {
    auto s = matmul(input<1, 2, 5, 4>("q"), transpose(input<1, 2, 6, 4>("k")));
    return outputs("y"_out = softmax(s), "shifted"_out = softmax(s - 1000.0));
  });
  const auto r = interpret_outputs(g, standard_inputs(g, 2));
  CHECK(distance(r[0].v, r[1].v) < 1e-12);
}

TEST_CASE("subnormal inputs count as zero") {
  const Graph g = graph_of([] { return input<3>("x") * 1.0; });
  const Array y = only_output(g, {{"x", {FLT_MIN, FLT_MIN / 2, -FLT_TRUE_MIN}}});
  CHECK(y.v == std::vector<double>{double(FLT_MIN), 0, 0});
}

TEST_CASE("probabilities and scores can be outputs, with their removed pairs") {
  const Graph g = graph_of([] {
    auto s = mask(matmul(input<1, 1, 2, 1>("q"), transpose(input<1, 1, 2, 1>("k"))), zoo::causal);
    return outputs("s"_out = s, "p"_out = softmax(s), "y"_out = matmul(softmax(s), input<1, 1, 2, 1>("v")));
  });
  const Bindings b{{"q", {1, 0}}, {"k", {2, 3}}, {"v", {4, 6}}};
  std::vector<Array> r = interpret_outputs(g, b);
  REQUIRE(r.size() == 3);
  const auto named = [&](std::string_view name) {
    for (std::size_t i = 0; i < 3; ++i)
      if (g.outputs[i].name == name) return r[i];
    return Array{};
  };
  CHECK(named("s").v == std::vector<double>{2, -infinity, 0, 0});
  CHECK(named("p").v == std::vector<double>{1, 0, 0.5, 0.5});
  CHECK(named("y").v == std::vector<double>{4, 5});
  CHECK(named("s").removed == std::vector<unsigned char>{0, 1, 0, 0});
  CHECK(named("p").removed == std::vector<unsigned char>{0, 1, 0, 0});
  CHECK(named("y").removed.empty());
}
