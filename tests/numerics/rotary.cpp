// Rotary embedding by its formula, in kernels: partial, both kinds of pairs, offsets.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

TEST_CASE("A partial rotation leaves the other features alone", "[numerics]") {
  const auto rotated = [](const char* name, Rotation how) {
    return spec(name, [how] { return rope(input<2, 3, 37, 80>("x"), how); });
  };
  const std::vector<std::pair<Spec, Rotation>> all{
      {rotated("rope_32_of_80", {.dims = 32}), {.dims = 32}},
      {rotated("rope_32_of_80_halves", {.pairs = half_split, .dims = 32}), {.pairs = half_split, .dims = 32}},
      {rotated("rope_from_1000", {.base = 500000, .pairs = half_split, .dims = 80, .offset = 1000}), {.base = 500000, .pairs = half_split, .dims = 80, .offset = 1000}},
      {rotated("rope_from_131072", {.offset = 131072}), {.dims = 80, .offset = 131072}}};
  std::vector<Spec> specs;
  for (const auto& [s, how] : all) specs.push_back(s);
  std::size_t n = 0;
  for_each_subject(specs, [&](const Subject& s) {
    const Rotation how = all[n++ / targets().size()].second;
    const Bindings b = host::standard_inputs(s.interface());
    const Floats& x = b.find("x")->second;
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    double worst = 0;
    for (std::size_t row = 0; row < x.size(); row += 80) {
      const double position = double(row / 80 % 37) + double(how.offset);
      for (long i = how.dims; i < 80; ++i) CHECK(got[0][row + std::size_t(i)] == x[row + std::size_t(i)]);
      for (long pair = 0; pair < how.dims / 2; ++pair) {
        const double angle = position * std::pow(how.base, -2.0 * double(pair) / double(how.dims));
        const bool neighbours = how.pairs == interleaved;
        const std::size_t i = row + std::size_t(neighbours ? 2 * pair : pair), j = row + std::size_t(neighbours ? 2 * pair + 1 : pair + how.dims / 2);
        worst = std::fmax(worst, std::abs(double(got[0][i]) - (double(x[i]) * std::cos(angle) - double(x[j]) * std::sin(angle))));
        worst = std::fmax(worst, std::abs(double(got[0][j]) - (double(x[i]) * std::sin(angle) + double(x[j]) * std::cos(angle))));
      }
    }
    CHECK(worst < 1e-6);
  });
}

// Kernels against the formula: angles up to a million from a table, of which the table's float holds each.
TEST_CASE("Positions of the caller turn by their angle in double, far out too", "[numerics]") {
  const Spec far = spec("rope_far", [] { return rope(input<1, 2, 19, 24>("x"), {.dims = 20}, table<int32, 1, 19>("positions")(batch_index, seq_index)); });
  for_each_subject({far}, [&](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    Floats& at = b.find("positions")->second;
    for (std::size_t i = 0; i < at.size(); ++i) at[i] = float((i % 2 ? -1 : 1) * (long(1) << i));  // up to 2^18
    at[3] = 16777215;
    const Floats& x = b.find("x")->second;
    const Outputs got = s(b);
    double worst = 0;
    for (std::size_t row = 0; row < x.size() / 24; ++row)
      for (std::size_t pair = 0; pair < 10; ++pair) {
        const long double angle = (long double)at[row % 19] * std::pow(10000.0L, -2.0L * (long double)pair / 20);
        const double c = double(std::cos(angle)), sn = double(std::sin(angle));
        const std::size_t i = row * 24 + 2 * pair;
        worst = std::fmax(worst, std::abs(double(got[0][i]) - (double(x[i]) * c - double(x[i + 1]) * sn)));
        worst = std::fmax(worst, std::abs(double(got[0][i + 1]) - (double(x[i]) * sn + double(x[i + 1]) * c)));
      }
    CHECK(worst < 1e-6);
  });
}

TEST_CASE("Permuted weights map one kind of pairs to the other", "[numerics]") {
  const auto block = [](const char* name, Pairs pairs) {
    return spec(name, [pairs] {
      auto x = input<1, 21, 32>("x");
      auto q = rope(split_heads<4>(linear<64>(x, "wq")), {.pairs = pairs, .dims = 16});
      auto k = rope(split_heads<2>(linear<32>(x, "wk")), {.pairs = pairs, .dims = 16});
      auto v = split_heads<2>(linear<32>(x, "wv"));
      auto s = matmul(q, transpose(repeat_heads<2>(k))) / sqrt_of<16>;
      return linear<32>(merge_heads(matmul(softmax(mask(s, kv_index <= q_index)), repeat_heads<2>(v))), "wo");
    });
  };
  const Spec neighbours = block("pairs_interleaved", interleaved), halves = block("pairs_half_split", half_split);
  const Bindings b = host::standard_inputs(interface_of(neighbours.graph));
  Bindings permuted = b;  // feature i and i + 8 of each head stand where 2i and 2i + 1 stood
  for (const auto& [name, heads] : {std::pair{"wq", 4l}, std::pair{"wk", 2l}})
    for (long h = 0; h < heads; ++h)
      for (long i = 0; i < 16; ++i) {
        const long from = i < 8 ? 2 * i : 2 * (i - 8) + 1;
        for (long c = 0; c < 32; ++c) permuted.find(name)->second[std::size_t((h * 16 + i) * 32 + c)] = b.find(name)->second[std::size_t((h * 16 + from) * 32 + c)];
      }
  const Expected expected = interpret_outputs(neighbours.graph, b);
  for_each_subject({neighbours, halves}, [&](const Subject& s) { check_close(s, s(s.name() == "pairs_half_split" ? permuted : b), expected); });
}
