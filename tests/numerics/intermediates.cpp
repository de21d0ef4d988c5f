// What a spec computes on its way, as further outputs: stored by loops of their own, while the attention
// itself streams as if nobody asked.
#include <catch2/catch.hpp>

#include "numerics/specs.h"
#include "passes/fuse.h"

using namespace numerics;

namespace {

template <class F>
Spec with_intermediates(const char* name, F results) {
  return spec(name, [results] {
    auto q = input<1, 2, 45, 16>("q");
    auto k = input<1, 2, 70, 16>("k");
    auto v = input<1, 2, 70, 24>("v");
    auto s = matmul(q, transpose(k)) / sqrt_of<16>;
    auto kept = mask(10 * tanh(s / 10), kv_index <= q_index + 25 && kv_index > q_index - 30);
    auto p = softmax(kept);
    return results(s, kept, p, matmul(p, v));
  });
}
Spec alone() {
  return with_intermediates("intermediates_none", [](auto, auto, auto, auto y) { return outputs("y"_out = y); });
}
Spec all() {
  return with_intermediates("intermediates_all", [](auto s, auto kept, auto p, auto y) { return outputs("y"_out = y, "scores"_out = s, "kept"_out = kept, "p"_out = p, "lse"_out = logsumexp(kept)); });
}

}  // namespace

TEST_CASE("Scores before and behind the mask and weights are results like others", "[numerics]") {
  std::map<std::string, Outputs> before;
  for_each_subject({alone()}, [&](const Subject& s) { before[s.target().label()] = s(host::standard_inputs(s.interface())); });
  for_each_subject({all()}, [&](const Subject& s) {
    for (const host::Case& c : host::check_cases(s.graph(), s.interface())) {
      INFO(c.name);
      const Outputs got = s(c.values);
      check_close(s, got, interpret_outputs(s.graph(), c.values), c.finite);
      if (c.name == "standard") CHECK(same_bits(got[0], before[s.target().label()][0]));
    }
  });
}

TEST_CASE("Attention whose scores and weights are wanted too streams, and explain says what they cost", "[numerics]") {
  long streams = 0;
  for (const Region& r : fuse(all().graph).regions) streams += std::holds_alternative<Stream>(r.work);
  CHECK(streams == 1);
  const std::string text = explain(all().graph, {.name = "all", .spec = "all", .command = "", .isas = {"avx2"}});
  // 2 x 45 x 70 floats, and 16 multiply-adds for each.
  CHECK_THAT(text, Catch::Contains("plain loops of 0.202 MFLOP") && Catch::Contains("writes scores (24.6 kB)") && Catch::Contains("writes kept (24.6 kB)") && Catch::Contains("writes p (24.6 kB)"));
  CHECK_THAT(text, !Catch::Contains("row_value:"));
}
