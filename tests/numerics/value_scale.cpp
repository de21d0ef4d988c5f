// Promise 5: the values may have any scale.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

TEST_CASE("Values of any scale are within the bound", "[numerics]") {
  const std::vector<Spec> specs{masked_specs()[1].spec, masked_specs()[4].spec};
  for_each_subject(specs, [](const Subject& s) {
    host::Normal normal(5);
    Bindings b = host::standard_inputs(s.interface());
    const long keys = s.interface().inputs[1].dims[2];
    // Nonzero entries in [2^-20, 2^20], scores from -300 to 300.
    for (float& x : b.find("v")->second) x = normal() < -1 ? 0 : std::ldexp(normal() < 0 ? -1.0f : 1.0f, int(std::lround(std::fmin(20, std::fmax(-20, 10 * normal())))));
    // The last feature of every query is sqrt(head_dim), so that of a key adds itself to the scaled
    // score; were it the first, all others would be rounded to its unit.
    const long head_dim = s.interface().inputs[0].dims[3];
    const float root = std::sqrt(float(head_dim));
    for (long i = 0; i < s.interface().inputs[0].dims[2]; ++i) for_row(s.interface(), b, "q", i, [&](float& x, long d) { if (d + 1 == head_dim) x = root; });
    for (const bool rising : {true, false})
      for (int k : {0, -80, 80, -40, 60}) {
        Bindings scaled = b;
        for (long j = 0; j < keys; ++j) {
          const float score = 300 * (2 * float(j) / float(keys - 1) - 1);
          for_row(s.interface(), scaled, "k", j, [&](float& x, long d) { if (d + 1 == head_dim) x = rising ? score : -score; });
        }
        const Expected unscaled = interpret_outputs(s.graph(), scaled);
        for (float& x : scaled.find("v")->second) x = std::ldexp(x, k);
        const Outputs got = s(scaled);
        INFO("values times 2^" << k << (rising ? ", rising scores" : ", falling scores"));
        CHECK(not_finite(got[0]) == 0);
        long off = 0;
        for (std::size_t i = 0; i < got[0].size(); ++i) {
          const double right = std::ldexp(unscaled[0].v[i], k), bound = std::ldexp(unscaled[0].bound[i], k) + double(keys) * 0x1p-126;
          off += !(std::abs(double(got[0][i]) - right) <= bound);
        }
        CHECK(off == 0);
        check_close(s, got, interpret_outputs(s.graph(), scaled));
      }
  });
}

// Scores near 0 with values near the greatest float: a sum of weights must not be taken to the values
// before it is divided away, as long as the result itself is far from overflow.
TEST_CASE("Values near the greatest float don't overflow where their mean does not", "[numerics]") {
  const std::vector<Spec> specs{masked_specs()[1].spec};
  for_each_subject(specs, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (float& x : b.find("q")->second) x = 0;
    long i = 0;
    for (float& x : b.find("v")->second) x = (i++ % 2 ? -1.0f : 1.0f) * 0x1p120f;
    const Outputs got = s(b);
    CHECK(not_finite(got[0]) == 0);
    check_close(s, got, interpret_outputs(s.graph(), b));
  });
}

// tanh, promise 7: within 2^-22, +-1 at infinity, nothing overflows inside.
TEST_CASE("A cap of the scores saturates and keeps NaN", "[numerics]") {
  const Spec capped = spec("capped", [] {
    auto q = input<1, 1, 40, 8>("q");
    auto k = input<1, 1, 33, 8>("k");
    auto v = input<1, 1, 33, 16>("v");
    return matmul(softmax(3.0 * tanh(matmul(q, transpose(k)))), v);
  });
  for_each_subject({capped}, [](const Subject& s) {
    for (float by : {1e-3f, 1.0f, 4.0f, 30.0f, 1e4f, 1e18f}) {
      Bindings b = host::standard_inputs(s.interface());
      for (float& x : b.find("q")->second) x *= by;
      INFO("scores times " << by);
      const Outputs got = s(b);
      CHECK(not_finite(got[0]) == 0);
      check_close(s, got, interpret_outputs(s.graph(), b));
    }
    Bindings b = host::standard_inputs(s.interface());  // scores of +-inf are capped to +-3
    for (float& x : b.find("k")->second) x = x < 0 ? -1.0f : 1.0f;
    for_row(s.interface(), b, "q", 4, [](float& x, long i) { x = i == 2 ? inf : 0.5f; });
    for_row(s.interface(), b, "q", 5, [](float& x, long i) { x = i == 2 ? quiet_nan : 0.5f; });
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b), false);
    CHECK(not_finite(Floats(got[0].begin() + 4 * 16, got[0].begin() + 5 * 16)) == 0);
    CHECK(not_finite(Floats(got[0].begin() + 5 * 16, got[0].begin() + 6 * 16)) == 16);
  });
}
