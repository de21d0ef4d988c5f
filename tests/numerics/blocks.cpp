// Whole blocks: projections, rotary embedding and attention, against the bound and against 1e-5 of the
// largest value on standard inputs.
#include <catch2/catch.hpp>
#include <cmath>
#include <zoo/textbook.h>

#include "numerics/specs.h"

using namespace numerics;

namespace {

Spec cross_attention() {
  return spec("block_cross", [] {
    auto x = input<2, 9, 40>("x");
    auto memory = input<2, 33, 24>("memory");
    auto q = split_heads<4>(linear<64>(x, "wq", "bq"));
    auto k = split_heads<2>(linear<32>(memory, "wk", "bk"));
    auto v = split_heads<2>(linear<40>(memory, "wv", "bv"));
    auto p = softmax(matmul(q, transpose(repeat_heads<2>(k))) / sqrt_of<16>);
    return linear<40>(merge_heads(matmul(p, repeat_heads<2>(v))), "wo", "bo") + x;
  });
}

Spec gated() {  // elementwise work before and behind a projection
  return spec("block_gated", [] {
    auto x = input<1, 37, 48>("x");
    auto gate = tanh(linear<48>(x, "wg", "bg"));
    auto y = linear<48>(merge_heads(matmul(softmax(mask(matmul(split_heads<3>(x), transpose(split_heads<3>(x))) / 4.0, kv_index <= q_index)), split_heads<3>(linear<48>(x, "wv")))), "wo");
    return outputs("y"_out = y * gate + x, "gate"_out = gate);
  });
}

}  // namespace

TEST_CASE("Whole blocks are within the bound on standard and on rough inputs", "[numerics]") {
  const std::vector<Spec> specs{spec("block_63", zoo::textbook_mha<1, 63, 128, 4>), spec("block_odd", zoo::textbook_mha<2, 17, 72, 3>), spec("block_1", zoo::textbook_mha<1, 1, 64, 1>),
                                spec("block_0", zoo::textbook_mha<1, 0, 64, 2>), spec("block_plain", zoo::textbook_mha_plain<1, 137, 320, 5>), cross_attention(), gated()};
  std::string known;
  std::vector<host::Case> cases;
  std::vector<Expected> expected;
  for_each_subject(specs, [&](const Subject& s) {
    if (known != s.name()) {
      known = s.name();
      cases = host::check_cases(s.graph(), s.interface());
      expected.clear();
      for (const host::Case& c : cases) expected.push_back(interpret_outputs(s.graph(), c.values));
    }
    for (std::size_t i = 0; i < cases.size(); ++i) {
      INFO(cases[i].name);
      const Outputs got = s(cases[i].values);
      check_close(s, got, expected[i], cases[i].finite);
      if (i > 0) continue;
      for (std::size_t o = 0; o < got.size(); ++o) {
        double largest = 0, error = 0;
        for (std::size_t k = 0; k < got[o].size(); ++k) {
          largest = std::fmax(largest, std::abs(expected[0][o].v[k]));
          error = std::fmax(error, std::abs(double(got[o][k]) - expected[0][o].v[k]));
        }
        CHECK(error <= 1e-5 * largest);
      }
    }
  });
}

// What a causal block says of the first tokens depends on nothing behind them.
TEST_CASE("Finite changes of a later token leave earlier rows of a block bit-equal", "[numerics]") {
  for_each_subject({spec("block_63", zoo::textbook_mha<1, 63, 128, 4>)}, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    const Outputs before = s(b);
    for (long token : {1l, 31l, 62l}) {
      Bindings changed = b;
      for_row(s.interface(), changed, "x", token, [](float& x, long i) { x = i % 2 ? 1e4f : -300; });
      const Outputs after = s(changed);
      CHECK(same_bits(Floats(before[0].begin(), before[0].begin() + token * 128), Floats(after[0].begin(), after[0].begin() + token * 128)));
      CHECK_FALSE(same_bits(before, after));
    }
  });
}
