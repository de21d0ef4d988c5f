// Promises 4 and 8: any scores whose f32 evaluation is finite, in the order that the spec says.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

std::vector<Spec> some_specs() {
  return {attention<1, 2, 2, 17, 33, 24, 24>("full", full), attention<2, 4, 2, 63, 63, 40, 40>("causal", causal), attention<1, 1, 1, 137, 137, 64, 64>("window", window<31>)};
}

void check(const Subject& s, const char* what, const Bindings& b) {
  INFO(what);
  const Outputs got = s(b);
  CHECK(not_finite(got[0]) == 0);
  check_close(s, got, interpret_outputs(s.graph(), b));
}

}  // namespace

TEST_CASE("Extreme scores are within the bound", "[numerics]") {
  for_each_subject(some_specs(), [](const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const long keys = s.interface().inputs[1].dims[2];
    const auto changed = [&](auto f) {
      Bindings b = clean;
      f(b);
      return b;
    };
    const auto scaled = [&](const char* name, float by) {
      return changed([&](Bindings& b) { for (float& x : b.find(name)->second) x *= by; });
    };
    for (float by : {10.0f, 1e3f, -1e4f, 1e-4f, 1e18f, 1e36f}) {
      INFO("queries times " << by);
      check(s, "scaled", scaled("q", by));
    }
    check(s, "all equal", changed([](Bindings& b) { for (float& x : b.find("k")->second) x = 0.5f; }));
    check(s, "all scores 0", scaled("q", 0));
    for (long key : {0l, keys / 2, keys - 1}) check(s, "one huge key", changed([&](Bindings& b) { for_row(s.interface(), b, "k", key, [](float& x, long) { x *= 1000; }); }));
    // The terms of a score differ: a sum of equal ones is rounded the same way at every step, which
    // adds up to more than 16 u.
    const auto slope = [&](float by) {
      return changed([&](Bindings& b) {
        for (float& x : b.find("q")->second) x = 1;
        for (long j = 0; j < keys; ++j) for_row(s.interface(), b, "k", j, [&](float& x, long d) { x = by * float(j) * (1 + 0.5f * std::sin(float(d))); });
      });
    };
    check(s, "scores rise with the key", slope(1));
    check(s, "scores fall with the key", slope(-3));
    // Kept scores of -110, -120: far below what exp can hold, unless shifted.
    check(s, "all scores far below 0", changed([&](Bindings& b) {
            const float one = 1 / std::sqrt(float(s.interface().inputs[0].dims[3]));
            for (float& x : b.find("q")->second) x = one;
            for (long j = 0; j < keys; ++j) for_row(s.interface(), b, "k", j, [&](float& x, long) { x = float(-110 - 10 * (j % 2)); });
          }));
  });
}

TEST_CASE("A constant added to a row of scores changes nothing beyond the bound", "[numerics]") {
  const Spec biased = spec("shifted", [] {
    auto q = input<1, 2, 21, 16>("q");
    auto k = input<1, 2, 60, 16>("k");
    auto v = input<1, 2, 60, 16>("v");
    return matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<16> + input<1, 1, 21, 1>("shift"), kv_index <= q_index + 39)), v);
  });
  for_each_subject({biased}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    std::fill(b.find("shift")->second.begin(), b.find("shift")->second.end(), 0.0f);
    const Expected unshifted = interpret_outputs(s.graph(), b);
    for (float by : {1.0f, -90.0f, 300.0f, -1e4f, 1e6f}) {
      std::fill(b.find("shift")->second.begin(), b.find("shift")->second.end(), by);
      const Outputs got = s(b);
      Expected expected = interpret_outputs(s.graph(), b);
      INFO("shift " << by);
      for (std::size_t i = 0; i < expected[0].v.size(); ++i) CHECK(std::abs(expected[0].v[i] - unshifted[0].v[i]) <= 1e-12 * (1 + std::abs(by)));
      check_close(s, got, expected);
    }
  });
}

// The order of the spec: scale, cap, bias, mask, and another in which each step changes the result.
TEST_CASE("Scores follow the order that the spec says", "[numerics]") {
  const auto ordered = [](auto order) {
    return [order] {
      auto q = input<2, 2, 18, 32>("q");
      auto k = input<2, 2, 50, 32>("k");
      auto v = input<2, 2, 50, 32>("v");
      auto bias = input<2, 1, 18, 50>("bias");
      return matmul(softmax(order(matmul(q, transpose(k)), bias)), v);
    };
  };
  const std::vector<Spec> specs{
      spec("cap_then_bias", ordered([](auto s, auto bias) { return mask(20.0 * tanh(s / sqrt_of<32> / 20.0) + bias, kv_index <= q_index + 32); })),
      spec("bias_then_cap", ordered([](auto s, auto bias) { return mask(20.0 * tanh((s / sqrt_of<32> + bias) / 20.0), kv_index <= q_index + 32); })),
      spec("bias_then_scale", ordered([](auto s, auto bias) { return mask((s + bias) / sqrt_of<32>, kv_index <= q_index + 32); })),
      spec("distance", ordered([](auto s, auto bias) { return mask(s / sqrt_of<32> - 0.125 * (q_index + 32 - kv_index) + 0.5 * bias, kv_index <= q_index + 32); })),
      spec("clamped", ordered([](auto s, auto bias) { return max(min(s / sqrt_of<32> + bias, 3.0), -2.0); }))};
  std::vector<Outputs> first;
  for_each_subject(specs, [&](const Subject& s) {
    for (float size : {1.0f, 100.0f}) {  // scores near +-100 too
      Bindings b = host::standard_inputs(s.interface());
      for (float& x : b.find("q")->second) x *= size;
      for (float& x : b.find("bias")->second) x *= 3;
      check(s, "ordered", b);
      if (size == 100 && s.target().isa == "portable") first.push_back(s(b));
    }
  });
  CHECK_FALSE(same_bits(first[0], first[1]));
  CHECK_FALSE(same_bits(first[1], first[2]));
}

TEST_CASE("Scales may be 0 or negative", "[numerics]") {
  std::vector<Spec> specs{attention<1, 2, 2, 19, 37, 16, 16>("scale_0", [](auto s) { return mask(s * 0.0, kv_index <= q_index + 18); }),
                          attention<1, 2, 2, 19, 37, 16, 16>("scale_negative", [](auto s) { return mask(s * -2.5, kv_index <= q_index + 18); }),
                          attention<1, 2, 2, 19, 37, 16, 16>("scale_0_inside", [](auto s) { return mask(5.0 * tanh(s * 0.0) + 1.0, kv_index <= q_index + 18); })};
  for_each_subject(specs, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    check(s, "standard", b);
    for (float& x : b.find("q")->second) x *= 30;
    check(s, "large", b);
  });
}
