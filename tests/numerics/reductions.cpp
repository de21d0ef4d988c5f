// Row reductions other than softmax, by formula: softmax-one, a sink, sigmoid, and products without any.
#include <algorithm>
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

constexpr auto softmax_one = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(-row_max)));
constexpr auto with_sink = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(1.5 - row_max)));
constexpr auto sigmoid = algebra(1.0 / (1.0 + exp(-score)), 1.0, 1.0);
constexpr auto relu_normalised = algebra(max(score, 0.0), 1.0, 1.0 / (row_sum + 1e-3));

template <class A>
Spec reduced(const char* name, A a) {
  return spec(name, [a] {
    auto q = input<1, 2, 22, 16>("q");
    auto k = input<1, 2, 50, 16>("k");
    auto v = input<1, 2, 50, 24>("v");
    return matmul(row_reduction(mask(matmul(q, transpose(k)) / sqrt_of<16>, kv_index <= q_index + 20), a), v);
  });
}

// The row's weights p from its kept scores.
using Formula = std::function<std::vector<double>(const std::vector<double>&)>;
std::vector<double> over(const std::vector<double>& s, double more) {
  std::vector<double> p;
  double sum = more;
  for (double x : s) sum += std::exp(x);
  for (double x : s) p.push_back(std::exp(x) / sum);
  return p;
}

}  // namespace

TEST_CASE("Row reductions follow their formulas", "[numerics]") {
  const std::vector<Spec> specs{reduced("softmax_one", softmax_one), reduced("with_sink", with_sink), reduced("sigmoid", sigmoid), reduced("relu", relu_normalised)};
  const std::vector<Formula> formulas{
      [](const auto& s) { return over(s, 1); },
      [](const auto& s) { return over(s, std::exp(1.5)); },
      [](const auto& s) {
        std::vector<double> p;
        for (double x : s) p.push_back(1 / (1 + std::exp(-x)));
        return p;
      },
      [](const auto& s) {
        std::vector<double> p;
        double sum = 1e-3;
        for (double x : s) sum += std::fmax(x, 0);
        for (double x : s) p.push_back(std::fmax(x, 0) / sum);
        return p;
      }};
  std::size_t n = 0;
  for_each_subject(specs, [&](const Subject& s) {
    const Formula& formula = formulas[n++ / targets().size()];
    const Bindings b = host::standard_inputs(s.interface());
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    const Floats &q = b.find("q")->second, &k = b.find("k")->second, &v = b.find("v")->second;
    double worst = 0;
    for (long h = 0; h < 2; ++h)
      for (long i = 0; i < 22; ++i) {
        std::vector<double> scores;
        for (long j = 0; j < 50 && j <= i + 20; ++j) {
          double dot = 0;
          for (long d = 0; d < 16; ++d) dot += double(q[std::size_t((h * 22 + i) * 16 + d)]) * double(k[std::size_t((h * 50 + j) * 16 + d)]);
          scores.push_back(dot / 4);
        }
        const std::vector<double> p = formula(scores);
        for (long d = 0; d < 24; ++d) {
          double y = 0, size = 0;
          for (std::size_t j = 0; j < p.size(); ++j) {
            const double term = p[j] * double(v[std::size_t((h * 50 + long(j)) * 24 + d)]);
            y += term;
            size += std::abs(term);
          }
          worst = std::fmax(worst, std::abs(double(got[0][std::size_t((h * 22 + i) * 24 + d)]) - y) / size);
        }
      }
    CHECK(worst < 1e-5);
    // Scores of +-100 and of NaN in a value.
    Bindings large = b;
    for (float& x : large.find("q")->second) x *= 100;
    check_close(s, s(large), interpret_outputs(s.graph(), large));
    Bindings odd = b;
    for_row(s.interface(), odd, "v", 45, [](float& x, long) { x = quiet_nan; });
    for_row(s.interface(), odd, "k", 45, [](float& x, long) { x = quiet_nan; });
    check_close(s, s(odd), interpret_outputs(s.graph(), odd), false);
  });
}

TEST_CASE("Empty rows of every reduction are 0", "[numerics]") {
  const auto empty = [](const char* name, auto a) {
    return spec(name, [a] {
      auto q = input<1, 1, 21, 8>("q");
      auto k = input<1, 1, 30, 8>("k");
      auto v = input<1, 1, 30, 8>("v");
      return matmul(row_reduction(mask(matmul(q, transpose(k)), kv_index + 10 <= q_index), a), v);
    });
  };
  for_each_subject({empty("empty_softmax", softmax_algebra), empty("empty_softmax_one", softmax_one), empty("empty_sink", with_sink), empty("empty_sigmoid", sigmoid)}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (long i = 0; i < 10; ++i) for_row(s.interface(), b, "q", i, [](float& x, long) { x = quiet_nan; });
    const Outputs got = s(b);
    CHECK(not_finite(got[0]) == 0);
    for (std::size_t i = 0; i < 10 * 8; ++i) CHECK(got[0][i] == 0);
    check_close(s, got, interpret_outputs(s.graph(), b));
  });
}

TEST_CASE("Weights that nothing divides are those below the true maximum, however great it is", "[numerics]") {
  const std::vector<Spec> specs{spec("undivided", [] {
    return matmul(row_reduction(matmul(input<1, 1, 3, 1>("q"), transpose(input<1, 1, 50, 1>("k"))), algebra(exp(score - row_max), exp(old_max - row_max), 1.0)), input<1, 1, 50, 2>("v"));
  })};
  for_each_subject(specs, [&](const Subject& s) {
    INFO(s.target().label());
    Bindings b{{"q", {0x1.8p27f, 0x1.cp28f, -0x1.4p26f}}, {"k", {}}, {"v", host::standard_inputs(s.interface()).at("v")}};
    for (int j = 0; j < 50; ++j) b["k"].push_back(float((j * 7) % 50) / 64 + 1);  // every product is a float, and far from the next
    const Outputs got = s(b);
    for (int i = 0; i < 3; ++i) {
      const auto greatest = std::max_element(b["k"].begin(), b["k"].end(), [&](float x, float y) { return b["q"][std::size_t(i)] * x < b["q"][std::size_t(i)] * y; }) - b["k"].begin();
      for (int d = 0; d < 2; ++d) CHECK(got[0][std::size_t(2 * i + d)] == Approx(b["v"][std::size_t(2 * greatest + d)]).epsilon(1e-6));
    }
  });
}

// Code that compares nothing but the places of rows still needs the types that it declares.
TEST_CASE("Weights without a peak, for rows that are no whole vectors", "[numerics]") {
  const Spec s = spec("rectified", [] {
    constexpr auto rectified = algebra(max(score, 0.0), 1.0, 1.0);
    auto q = input<1, 2, 31, 24>("q");
    auto k = input<1, 2, 40, 24>("k");
    return matmul(row_reduction(matmul(q, transpose(k)) / sqrt_of<24>, rectified), input<1, 2, 40, 8>("v"));
  });
  for_each_subject({s}, [](const Subject& of) {
    const Bindings b = host::standard_inputs(of.interface());
    check_close(of, of(b), interpret_outputs(of.graph(), b));
  });
}
