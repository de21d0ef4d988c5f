// Norms by their formulas, in kernels: rows of any scale, whose squares f32 does not hold, and rows of zeros; and
// of heads, in the projections that make them.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"
#include "passes/fuse.h"

using namespace numerics;

TEST_CASE("Norms are right at any scale and of zeros", "[numerics]") {
  const std::vector<Spec> specs{spec("norm_rms", [] { return rms_norm(input<2, 3, 5, 37>("x"), "w", 1e-6); }),
                                spec("norm_l2", [] { return l2_norm(transpose(input<2, 3, 37, 5>("x")), 1e-12); })};
  for_each_subject(specs, [](const Subject& s) {
    const bool rms = !s.interface().weights.empty();
    Bindings b = host::standard_inputs(s.interface());
    Floats& x = b.find("x")->second;
    const auto place = [&](std::size_t row, std::size_t i) { return rms ? row * 37 + i : row / 5 * 185 + i * 5 + row % 5; };
    for (std::size_t row = 0; row < 30; ++row)
      for (std::size_t i = 0; i < 37; ++i) x[place(row, i)] = row == 4 ? 0 : std::ldexp(x[place(row, i)], 5 * (int(row) - 15));
    for (std::size_t i = 0; i < 37; ++i) x[place(7, i)] = std::ldexp(x[place(7, i)], 120);
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    for (std::size_t row = 0; row < 30; ++row) {
      double sum = 0, worst = 0;
      for (std::size_t i = 0; i < 37; ++i) sum += double(x[place(row, i)]) * double(x[place(row, i)]);
      const double by = rms ? 1 / std::sqrt(sum / 37 + 1e-6) : 1 / std::fmax(std::sqrt(sum), 1e-12);
      for (std::size_t i = 0; i < 37; ++i)
        worst = std::fmax(worst, std::abs(double(got[0][row * 37 + i]) - double(x[place(row, i)]) * by * (rms ? double(b["w"][i]) : 1)));
      CHECK(worst < 2e-6);
    }
  });
}

namespace {

// Heads of 20 and of 80 features, neither of which is whole vectors everywhere; norms before a rotation of pairs side by
// side, of pairs half of 64 features apart, and of none; a bias, a gain, and rows enough for several items.
Spec heads_of_projections() {
  return spec("norm_of_heads", [] {
    auto x = input<2, 70, 24>("x");
    auto a = rope(rms_norm(split_heads<3>(linear<60>(x, "wa", "ba")), "na", 1e-6));
    auto b = rope(l2_norm(split_heads<2>(linear<160>(x, "wb")), 1e-12), {.pairs = half_split, .dims = 64, .offset = 5});
    auto c = 0.5 * rms_norm(split_heads<5>(linear<80>(x, "wc")), "nc", 1e-5) * input<1, 5, 1, 1>("gain") + input<2, 1, 70, 16>("added");
    return outputs("a"_out = a, "b"_out = merge_heads(b), "c"_out = c);
  });
}

template <class T>
long regions_of(const Graph& g) {
  long n = 0;
  for (const Region& r : fuse(g).regions) n += std::holds_alternative<T>(r.work);
  return n;
}

}  // namespace

TEST_CASE("Heads of a projection are normalised where they are made", "[numerics]") {
  const Spec heads = heads_of_projections();
  CHECK(regions_of<Contract>(heads.graph) == 3);
  CHECK(regions_of<RowNorm>(heads.graph) + regions_of<Pointwise>(heads.graph) == 0);
  CHECK_THAT(explain(heads.graph, {.name = "heads", .spec = "heads", .command = "", .isas = {"avx2"}}), Catch::Contains("the 80 columns of each of 2 groups of wb are normalised"));
  for_each_subject({heads}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    Floats& x = b.find("x")->second;
    for (std::size_t i = 0; i < x.size(); ++i) x[i] = i / 24 == 4 ? 0 : std::ldexp(x[i], int(i / 24 % 40) - 20);
    check_close(s, s(b), interpret_outputs(s.graph(), b));
    const Outputs before = s(b);
    for (std::size_t i = 0; i < 24; ++i) x[24 * 9 + i] = quiet_nan;
    const Outputs got = s(b);
    for (std::size_t o = 0; o < got.size(); ++o) {
      const std::size_t heads_of = o == 1 ? 1 : o == 0 ? 3 : 5, width = o == 1 ? 160 : o == 0 ? 20 : 16;  // [b, h, t, d]; b is merged
      long lost = 0, changed = 0;
      for (std::size_t i = 0; i < got[o].size(); ++i) {
        const bool row = i < got[o].size() / 2 && i / width % 70 == 9;
        if (row) lost += std::isnan(got[o][i]);
        else changed += !same_bits(Floats{got[o][i]}, Floats{before[o][i]});
      }
      CHECK(lost == long(heads_of * width));
      CHECK(changed == 0);
    }
  });
}

TEST_CASE("Norms of what others want too are passes of their own", "[numerics]") {
  const auto both = spec("norm_of_wanted", [] {
    auto x = input<1, 19, 24>("x");
    auto q = split_heads<2>(linear<32>(x, "wq"));
    return outputs("q"_out = q, "normed"_out = rope(rms_norm(q, "n", 1e-6)));
  });
  CHECK(regions_of<RowNorm>(both.graph) == 1);
  for_each_subject({both}, {targets().at(1)}, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    check_close(s, s(b), interpret_outputs(s.graph(), b));
  });
}
