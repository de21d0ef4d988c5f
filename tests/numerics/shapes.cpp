// Shapes that break other implementations: every listed length, head_dim and group ratio occurs, and
// most pairs of them that have a code path of their own.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

template <long B, long H, long KvH, long Q, long KV, long D, long DV, class F>
Spec shape(const char* masked, F f) {
  return attention<B, H, KvH, Q, KV, D, DV>(std::string("shape_") + masked + "_b" + std::to_string(B) + "_h" + std::to_string(H) + "x" + std::to_string(KvH) + "_t" + std::to_string(Q) + "x" + std::to_string(KV) + "_d" + std::to_string(D) + "x" + std::to_string(DV), f);
}

constexpr auto lengths = [](auto s) { return mask(s, kv_index < 100 + 50 * batch_index); };
constexpr auto nothing = [](auto s) { return mask(s, kv_index <= q_index && q_index - kv_index < 0); };
// The last column belongs to a few rows in the middle, fewer than a tile of values has.
constexpr auto bulge = [](auto s) { return mask(s, kv_index < 16 || (kv_index <= q_index && q_index / 5 == kv_index / 5)); };
constexpr auto blocks = [](auto s) { return mask(s, (q_index / 16 + kv_index / 16) % 2 == 0); };

std::vector<Spec> short_shapes() {
  return {
      shape<1, 1, 1, 0, 0, 64, 64>("causal", causal),
      shape<1, 2, 2, 0, 7, 8, 8>("full", full),
      shape<1, 2, 2, 7, 0, 8, 8>("full", full),
      shape<1, 1, 1, 1, 1, 576, 512>("full", full),
      shape<3, 4, 1, 1, 9, 64, 64>("corner", bottom_right<8>),
      shape<1, 8, 2, 9, 1, 40, 20>("full", full),
      shape<1, 2, 2, 40, 17, 8, 8>("bulge", bulge),
      shape<2, 6, 1, 2, 2, 4, 8>("causal", causal),
      shape<1, 7, 1, 3, 3, 17, 17>("window", window<2>),
      shape<1, 8, 1, 7, 7, 72, 36>("full", full),
      shape<2, 12, 1, 15, 15, 80, 160>("causal", causal),
      shape<1, 1, 1, 17, 17, 96, 96>("window", window<5>),
      shape<2, 2, 2, 63, 63, 112, 112>("holes", global_and_window<7, 2>),
      shape<1, 2, 1, 63, 17, 192, 192>("full", full),
      shape<1, 1, 1, 15, 63, 256, 128>("corner", bottom_right<48>),
      shape<1, 1, 1, 17, 15, 512, 512>("full", full),
  };
}

std::vector<Spec> long_shapes() {
  return {
      shape<1, 2, 2, 63, 63, 576, 512>("causal", causal),
      shape<1, 1, 1, 137, 137, 128, 64>("causal", causal),
      shape<1, 1, 1, 137, 300, 72, 72>("corner", bottom_right<163>),
      shape<1, 1, 1, 300, 137, 17, 34>("causal", causal),
      shape<1, 1, 1, 300, 300, 40, 40>("window", window<64>),
      shape<2, 1, 1, 3, 137, 8, 16>("dilated", [](auto s) { return mask(s, (q_index + 134 - kv_index) % 3 == 0); }),
      shape<1, 1, 1, 137, 137, 64, 64>("nothing", nothing),
      shape<1, 1, 1, 137, 137, 24, 24>("blocks", blocks),
      shape<2, 3, 3, 7, 300, 80, 80>("lengths", lengths),
      shape<1, 1, 1, 2, 1025, 96, 48>("window", window<300, 1023>),
      shape<1, 4, 1, 1, 1025, 128, 128>("full", full),
      shape<1, 1, 1, 1025, 1, 4, 4>("causal", causal),
      shape<1, 1, 1, 1025, 1025, 64, 64>("causal", causal),
  };
}

// Each length on each mask with another head_dim, on demand.
template <long T, long D>
void every_mask(std::vector<Spec>& r) {
  r.push_back(shape<1, 2, 2, T, T, D, D>("full", full));
  r.push_back(shape<2, 3, 1, T, T, D, D>("causal", causal));
  r.push_back(shape<1, 2, 1, T, T + 31, D, 2 * D>("corner", bottom_right<31>));
  r.push_back(shape<1, 2, 2, T, T, D, (D + 1) / 2>("window", window<16>));
  r.push_back(shape<1, 1, 1, T, T, D, D>("holes", global_and_window<9, 3>));
}
std::vector<Spec> many_shapes() {
  std::vector<Spec> r;
  every_mask<1, 64>(r);
  every_mask<2, 112>(r);
  every_mask<3, 8>(r);
  every_mask<7, 128>(r);
  every_mask<15, 40>(r);
  every_mask<17, 256>(r);
  every_mask<63, 80>(r);
  every_mask<137, 96>(r);
  every_mask<300, 72>(r);
  every_mask<1025, 17>(r);
  return r;
}

// The interpreter's values are the same for each ISA.
class Cases {
 public:
  void operator()(const Subject& s) {
    if (name_ != s.name()) {
      name_ = s.name();
      cases_ = host::check_cases(s.graph(), s.interface());
      if (s.interface().outputs[0].dims.size() * s.interface().inputs[1].dims.size() > 500'000'000) cases_.resize(2);
      expected_.clear();
      for (const host::Case& c : cases_) expected_.push_back(interpret_outputs(s.graph(), c.values));
    }
    for (std::size_t i = 0; i < cases_.size(); ++i) {
      INFO(cases_[i].name);
      const Outputs got = s(cases_[i].values);
      REQUIRE(got.size() == 1);
      REQUIRE(long(got[0].size()) == s.interface().outputs[0].dims.size());
      check_close(s, got, expected_[i], cases_[i].finite);
      if (i > 0) continue;
      double largest = 0, error = 0;
      for (std::size_t k = 0; k < got[0].size(); ++k) {
        largest = std::fmax(largest, std::abs(expected_[0][0].v[k]));
        error = std::fmax(error, std::abs(double(got[0][k]) - expected_[0][0].v[k]));
      }
      CHECK(error <= 2e-6 * largest);
    }
  }

 private:
  std::string name_;
  std::vector<host::Case> cases_;
  std::vector<Expected> expected_;
};

}  // namespace

TEST_CASE("Short sequences, wide heads and groups of heads", "[numerics]") {
  Cases cases;
  for_each_subject(short_shapes(), std::ref(cases));
}

TEST_CASE("Long and odd sequences under every mask", "[numerics]") {
  Cases cases;
  for_each_subject(long_shapes(), std::ref(cases));
}

TEST_CASE("Every length under every mask", "[.thorough]") {
  Cases cases;
  for_each_subject(many_shapes(), std::ref(cases));
}

TEST_CASE("An emulated ISA gives the bits of the native one", "[numerics]") {
  const Spec one = attention<2, 4, 2, 63, 63, 40, 40>("causal", causal);
  for (const std::string& isa : attune::isa_names()) {
    if (isa == "portable" || !attune::host_supports(isa)) continue;
    INFO(isa);
    const Subject native(one, {isa, false}), emulated(one, {isa, true});
    const Bindings b = host::standard_inputs(native.interface());
    CHECK(same_bits(native(b), emulated(b)));
  }
}
