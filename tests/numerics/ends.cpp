// What follows a product with values element by element is made of each block of rows when it is done: behind the
// path that mends rows, whatever it hides of them.
#include <catch2/catch.hpp>

#include "numerics/specs.h"
#include "passes/fuse.h"

using namespace numerics;

namespace {

constexpr long queries = 37, keys = 290;  // several blocks of columns; values of no whole vectors

template <class S>
constexpr auto attended(const char* q, S change) {
  auto s = matmul(input<1, 2, queries, 16>(q), transpose(input<1, 2, keys, 16>("k"))) / sqrt_of<16>;
  return matmul(softmax(change(s)), input<1, 2, keys, 20>("v"));
}

Spec ended() {
  return spec("ended_rows", [] {
    auto gate = input<1, queries, 40>("gate");
    auto a = attended("qa", [](auto s) { return mask(s, kv_index > q_index + 2 && kv_index < 8 * q_index); });  // row 0 keeps nothing
    auto b = attended("qb", full), c = attended("qc", causal);
    return outputs("hidden"_out = max(a, 0.25) * input<1, 2, 1, 1>("factor") - a, "gated"_out = merge_heads(b) / (1.0 + exp(-gate)), "bounded"_out = min(max(c, -0.5), 0.5) + input<1, 1, queries, 1>("added"));
  });
}
Spec difference() {
  return spec("ended_difference", [] {
    auto lambda = input<1, 2, 1, 1>("lambda");
    return attended("qa", causal) - lambda * attended("qb", causal) + 0.5 * attended("qc", full);
  });
}

}  // namespace

TEST_CASE("What follows a product is made of its rows when they are done", "[numerics]") {
  for (const auto& [spec, streams, passes] : {std::tuple{ended(), 3L, 1L}, std::tuple{difference(), 3L, 0L}}) {
    long found = 0, pointwise = 0;
    for (const Region& r : fuse(spec.graph).regions) {
      found += std::holds_alternative<Stream>(r.work);
      pointwise += std::holds_alternative<Pointwise>(r.work);
    }
    CHECK(found == streams);
    CHECK(pointwise == passes);  // `a` is read twice
  }
  for_each_subject({ended(), difference()}, [](const Subject& s) {
    for (const host::Case& c : host::check_cases(s.graph(), s.interface())) {
      INFO(c.name);
      check_close(s, s(c.values), interpret_outputs(s.graph(), c.values), c.finite);
    }
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    Bindings b = clean;  // rows of NaN, which max and min keep, and every bit of the others
    for (const char* q : {"qa", "qb", "qc"}) for_row(s.interface(), b, q, 12, [](float& x, long) { x = quiet_nan; });
    const Outputs got = s(b);
    for (std::size_t o = 0; o < got.size(); ++o) {
      const std::size_t width = s.interface().outputs[o].dims.rank == 3 ? 40 : 20;
      long lost = 0, changed = 0;
      for (std::size_t i = 0; i < got[o].size(); ++i) {
        if (i / width % queries == 12) lost += std::isnan(got[o][i]);
        else changed += !same_bits(Floats{got[o][i]}, Floats{before[o][i]});
      }
      CHECK(lost == 40);
      CHECK(changed == 0);
    }
    b = clean;  // an infinite value: the safe path has the rows, and what follows comes behind it
    b.find("v")->second[20 * 200 + 3] = inf;
    check_close(s, s(b), interpret_outputs(s.graph(), b), false);
  });
}
