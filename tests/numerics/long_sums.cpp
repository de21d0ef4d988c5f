// Sums of many numbers that are alike round the same way at every step: what adds up must not grow with their number.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

constexpr long keys = 2048;
constexpr double unit = 0x1p-24;

template <class F>
Spec over_keys(const char* name, F f) {
  return spec(name, [f] {
    auto p = row_reduction(matmul(input<1, 1, 4, 8>("q"), transpose(input<1, 1, keys, 8>("k"))), algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / row_sum));
    return f(p);
  });
}

Floats constant(long n, float x) { return Floats(std::size_t(n), x); }

}  // namespace

TEST_CASE("What many equal keys and values give is the value", "[numerics]") {
  const std::vector<Spec> specs{over_keys("alike", [](auto p) { return matmul(p, input<1, 1, keys, 32>("v")); })};
  for_each_subject(specs, [&](const Subject& s) {
    // Summed one after the other the value that is furthest from its right result here, 1.885898, is off by 320 units.
    for (float value : {1.1793456f, 1.5118216f, 1.885898f, 1.0f / 3}) {
      INFO(s.target().label() << ", " << value);
      const Outputs got = s({{"q", constant(4 * 8, 0.5f)}, {"k", constant(keys * 8, 0.25f)}, {"v", constant(keys * 32, value)}});
      for (float y : got[0]) REQUIRE(std::abs(double(y) - double(value)) < 150 * unit * double(value));
    }
  });
}

TEST_CASE("Probabilities that are nearly alike add up to 1", "[numerics]") {
  const std::vector<Spec> specs{over_keys("nearly_alike", [](auto p) { return p; })};
  for_each_subject(specs, [&](const Subject& s) {
    // All keys but the first score a little lower, so that their weights are the same inexact number.
    for (float lower : {1e-3f, 7e-4f, 3e-2f}) {
      INFO(s.target().label() << ", " << lower);
      Bindings b{{"q", constant(4 * 8, 1)}, {"k", constant(keys * 8, -lower / 8)}};
      std::fill_n(b["k"].begin(), 8, 0.0f);
      const Outputs got = s(b);
      check_close(s, got, interpret_outputs(s.graph(), b));
    }
  });
}
