// Inputs that broke other implementations: the kinds that the language can say today.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

// With queries of 0 all kept keys weigh the same, and with values that are the unit matrix an output
// row shows them: 1 / n at each.
std::vector<std::vector<long>> kept_keys(const Subject& s) {
  Bindings b = host::standard_inputs(s.interface());
  std::fill(b.find("q")->second.begin(), b.find("q")->second.end(), 0.0f);
  const Dims& d = s.interface().inputs[2].dims;
  REQUIRE(d[2] == d[3]);
  for (long j = 0; j < d[2]; ++j) for_row(s.interface(), b, "v", j, [&](float& x, long i) { x = i == j; });
  const Outputs got = s(b);
  std::vector<std::vector<long>> r;
  for_each_row(s.interface().outputs[0].dims, [&](long, long, long, long at) {
    std::vector<long> keys;
    for (long j = 0; j < d[3]; ++j)
      if (got[0][std::size_t(at + j)] != 0) keys.push_back(j);
    for (long j : keys) CHECK(got[0][std::size_t(at + j)] == Approx(1.0 / double(keys.size())).epsilon(1e-6));
    r.push_back(keys);
  });
  return r;
}

std::vector<long> range(long begin, long end) {
  std::vector<long> r;
  for (long i = begin; i < end; ++i) r.push_back(i);
  return r;
}

// One sequence of one head, computed in double from rows [begin, end) of q, k and v.
Floats rows_of(const Floats& x, long seq, long width, long outer, long begin, long end) {
  return {x.begin() + (outer * seq + begin) * width, x.begin() + (outer * seq + end) * width};
}

long outside(const Floats& got, std::size_t at, const Array& expected) {
  long n = 0;
  for (std::size_t i = 0; i < expected.v.size(); ++i) n += !(std::abs(double(got[at + i]) - expected.v[i]) <= expected.bound[i]);
  return n;
}

}  // namespace

TEST_CASE("A window of w keys holds the current token and w - 1 before it", "[numerics]") {
  for_each_subject({attention<1, 1, 1, 24, 24, 8, 24>("window_of_5", window<5>)}, [](const Subject& s) {
    const auto kept = kept_keys(s);
    for (long i = 0; i < 24; ++i) CHECK(kept[std::size_t(i)] == range(std::max(0l, i - 4), i + 1));
  });
}

TEST_CASE("Causal with more keys than queries: the spec says which corner", "[numerics]") {
  const std::vector<Spec> specs{attention<1, 1, 1, 2, 6, 8, 6>("corner_top", causal), attention<1, 1, 1, 2, 6, 8, 6>("corner_bottom", bottom_right<4>), attention<1, 1, 1, 1, 9, 8, 9>("corner_decode", bottom_right<8>)};
  for_each_subject(specs, [](const Subject& s) {
    const auto kept = kept_keys(s);
    if (s.name() == "corner_top") CHECK(kept == std::vector<std::vector<long>>{{0}, {0, 1}});
    if (s.name() == "corner_bottom") CHECK(kept == std::vector<std::vector<long>>{range(0, 5), range(0, 6)});
    if (s.name() == "corner_decode") CHECK(kept == std::vector<std::vector<long>>{range(0, 9)});
  });
}

TEST_CASE("A window of no tokens and a mask that is false everywhere leave rows of 0", "[numerics]") {
  const std::vector<Spec> specs{attention<1, 2, 2, 20, 20, 8, 20>("window_of_0", window<0>), attention<1, 2, 2, 20, 20, 8, 20>("never", [](auto s) { return mask(s, kv_index < 0); }),
                                attention<1, 2, 2, 20, 20, 8, 20>("all_but_row_7", [](auto s) { return mask(s, q_index != 7); })};
  for_each_subject(specs, [](const Subject& s) {
    const auto kept = kept_keys(s);
    for (std::size_t i = 0; i < kept.size(); ++i) CHECK(kept[i] == range(0, s.name() == "all_but_row_7" && i % 20 != 7 ? 20 : 0));
  });
}

TEST_CASE("Masks with holes keep what they say", "[numerics]") {
  const std::vector<Spec> specs{attention<1, 1, 1, 60, 60, 4, 60>("hole_blocks", [](auto s) { return mask(s, (q_index / 8 + kv_index / 8) % 3 == 0); }),
                                attention<1, 1, 1, 60, 60, 4, 60>("hole_sinks", global_and_window<10, 4>),
                                attention<1, 1, 1, 60, 60, 4, 60>("hole_future", [](auto s) { return mask(s, kv_index > q_index + 5 || kv_index == 3); })};
  for_each_subject(specs, [](const Subject& s) {
    const auto kept = kept_keys(s);
    for (long i = 0; i < 60; ++i) {
      std::vector<long> right;
      for (long j = 0; j < 60; ++j) {
        const bool keep = s.name() == "hole_blocks" ? (i / 8 + j / 8) % 3 == 0 : s.name() == "hole_sinks" ? j <= i && (j < 4 || i - j < 10)
                                                                                                            : j > i + 5 || j == 3;
        if (keep) right.push_back(j);
      }
      CHECK(kept[std::size_t(i)] == right);
    }
  });
}

TEST_CASE("A right-padded batch is as if each sequence stood alone", "[numerics]") {
  const auto rotated = []<long B, long T>(std::integral_constant<long, B>, std::integral_constant<long, T>, auto change) {
    return [change] {
      auto q = rope(input<B, 2, T, 8>("q"));
      auto k = rope(input<B, 2, T, 8>("k"));
      return matmul(softmax(change(matmul(q, transpose(k)) / sqrt_of<8>)), input<B, 2, T, 8>("v"));
    };
  };
  constexpr auto b1 = std::integral_constant<long, 1>{};
  constexpr auto b3 = std::integral_constant<long, 3>{};
  // Lengths 4, 2, 6 of 6.
  const Spec padded = spec("padded", rotated(b3, std::integral_constant<long, 6>{}, [](auto s) {
                             return mask(s, (batch_index == 0 && kv_index < 4) || (batch_index == 1 && kv_index < 2) || batch_index == 2);
                           }));
  const Graph alone[] = {graph_of(rotated(b1, std::integral_constant<long, 4>{}, full)), graph_of(rotated(b1, std::integral_constant<long, 2>{}, full)), graph_of(rotated(b1, std::integral_constant<long, 6>{}, full))};
  const long length[] = {4, 2, 6};
  for_each_subject({padded}, [&](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (const char* name : {"k", "v"})
      for (long batch = 0; batch < 3; ++batch)
        for (long h = 0; h < 2; ++h)
          for (long i = length[batch] * 8; i < 6 * 8; ++i) b.find(name)->second[std::size_t((batch * 2 + h) * 48 + i)] = quiet_nan;
    const Outputs got = s(b);
    for (long batch = 0; batch < 3; ++batch) {
      Bindings one;
      for (const char* name : {"q", "k", "v"})
        for (long h = 0; h < 2; ++h) {
          const Floats rows = rows_of(b.find(name)->second, 6, 8, batch * 2 + h, 0, length[batch]);
          one[name].insert(one[name].end(), rows.begin(), rows.end());
        }
      const Array right = interpret_outputs(alone[batch], one)[0];
      for (long h = 0; h < 2; ++h) {
        const auto part = [&](const std::vector<double>& x) { return std::vector<double>(x.begin() + h * length[batch] * 8, x.begin() + (h + 1) * length[batch] * 8); };
        CHECK(outside(got[0], std::size_t((batch * 2 + h) * 48), {right.dims, part(right.v), part(right.bound), {}}) == 0);
      }
    }
    CHECK(not_finite(got[0]) == 0);
  });
}

TEST_CASE("Kept scores far below 0 beside a block that is removed", "[numerics]") {
  for_each_subject({attention<1, 1, 1, 9, 160, 16, 16>("far_below", [](auto s) { return mask(s, kv_index >= 130); })}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (float& x : b.find("q")->second) x = 1;
    for (long j = 0; j < 160; ++j) for_row(s.interface(), b, "k", j, [&](float& x, long i) { x = i == 0 ? (j < 130 ? 500.0f : -440.0f - float(j % 5)) : 0; });
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    CHECK(*std::max_element(got[0].begin(), got[0].end()) > 0);
  });
}

TEST_CASE("A prefill in chunks equals one prefill", "[numerics]") {
  const std::vector<Spec> chunks{attention<1, 2, 2, 5, 5, 16, 16>("chunk_0", causal), attention<1, 2, 2, 3, 8, 16, 16>("chunk_5", bottom_right<5>), attention<1, 2, 2, 8, 16, 16, 16>("chunk_8", bottom_right<8>)};
  const Graph whole = attention<1, 2, 2, 16, 16, 16, 16>("whole", causal).graph;
  const Bindings all = host::standard_inputs(interface_of(whole));
  const Array right = interpret_outputs(whole, all)[0];
  for_each_subject(chunks, [&](const Subject& s) {
    const long queries = s.interface().inputs[0].dims[2], keys = s.interface().inputs[1].dims[2], start = keys - queries;
    Bindings b;
    for (const auto& [name, x] : all)
      for (long h = 0; h < 2; ++h) {
        const Floats rows = rows_of(x, 16, 16, h, name == "q" ? start : 0, keys);
        b[name].insert(b[name].end(), rows.begin(), rows.end());
      }
    const Outputs got = s(b);
    for (long h = 0; h < 2; ++h) {
      const auto part = [&](const std::vector<double>& x) { return std::vector<double>(x.begin() + (h * 16 + start) * 16, x.begin() + (h * 16 + keys) * 16); };
      CHECK(outside(got[0], std::size_t(h * queries * 16), {right.dims, part(right.v), part(right.bound), {}}) == 0);
    }
  });
}

TEST_CASE("Head h reads kv head h / group", "[numerics]") {
  for_each_subject({attention<2, 12, 2, 3, 7, 8, 8>("groups_12_2", full), attention<2, 6, 1, 3, 7, 8, 8>("groups_6_1", full), attention<1, 12, 3, 20, 20, 8, 8>("groups_12_3", causal)}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    const Dims &v = s.interface().inputs[2].dims, &out = s.interface().outputs[0].dims;
    for (long i = 0; i < v.size(); ++i) b.find("v")->second[std::size_t(i)] = float(i / (v[2] * v[3]));  // the number of (batch, kv head)
    const Outputs got = s(b);
    long wrong = 0;
    for_each_row(out, [&](long batch, long head, long, long at) {
      for (long c = 0; c < out[3]; ++c) wrong += std::abs(got[0][std::size_t(at + c)] - float(batch * v[1] + head / (out[1] / v[1]))) > 1e-5f;
    });
    CHECK(wrong == 0);
  });
}

TEST_CASE("A decode step of three sequences, each of its own length", "[numerics]") {
  const Spec decode = attention<3, 4, 2, 1, 90, 16, 16>("decode", [](auto s) { return mask(s, kv_index < 90 - 40 * batch_index); });
  for_each_subject({decode}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    const Expected right = interpret_outputs(s.graph(), b);
    for (const char* name : {"k", "v"})
      for (long batch = 0; batch < 3; ++batch)
        for (long h = 0; h < 2; ++h)
          for (long i = (90 - 40 * batch) * 16; i < 90 * 16; ++i) b.find(name)->second[std::size_t((batch * 2 + h) * 90 * 16 + i)] = quiet_nan;
    const Outputs got = s(b);
    CHECK(not_finite(got[0]) == 0);
    check_close(s, got, right);
  });
}

TEST_CASE("Biases broadcast by the usual rules", "[numerics]") {
  const auto biased = []<long B, long H, long Q, long KV>(const char* name, std::integer_sequence<long, B, H, Q, KV>) {
    return spec(name, [] {
      auto q = input<2, 3, 11, 8>("q");
      auto k = input<2, 3, 37, 8>("k");
      auto v = input<2, 3, 37, 8>("v");
      return matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<8> + input<B, H, Q, KV>("bias"), kv_index <= q_index + 26)), v);
    });
  };
  const std::vector<Spec> specs{biased("bias_b1qk", std::integer_sequence<long, 2, 1, 11, 37>{}), biased("bias_1h1k", std::integer_sequence<long, 1, 3, 1, 37>{}),
                                biased("bias_bhq1", std::integer_sequence<long, 2, 3, 11, 1>{}), biased("bias_1h11", std::integer_sequence<long, 1, 3, 1, 1>{}),
                                biased("bias_all", std::integer_sequence<long, 2, 3, 11, 37>{})};
  for_each_subject(specs, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    for (float& x : b.find("bias")->second) x *= 4;
    check_close(s, s(b), interpret_outputs(s.graph(), b));
    Floats& bias = b.find("bias")->second;  // some pairs removed by it
    for (std::size_t i = 0; i < bias.size(); i += 3) bias[i] = -inf;
    check_close(s, s(b), interpret_outputs(s.graph(), b));
  });
}
