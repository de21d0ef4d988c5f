// Promises 1 and 2: a removed pair contributes nothing, and a row without a kept key is 0.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

void for_each_masked(const std::function<void(const Masked&, const Subject&)>& f) {
  const std::vector<Masked> masked = masked_specs();
  std::size_t i = 0;
  for_each_subject(specs_of(masked), [&](const Subject& s) { f(masked[i++ / targets().size()], s); });
}

// Keys that stand for all: the first, one in the middle, the last of the queries and of the keys.
std::vector<long> some_keys(const Masked& m) { return {0, m.kv_len / 2, std::min(m.q_len, m.kv_len) - 1, m.kv_len - 1}; }

bool any_kept(const Masked& m, long b, long h, long i) {
  for (long j = 0; j < m.kv_len; ++j)
    if (m.keep(b, h, i, j)) return true;
  return false;
}

}  // namespace

TEST_CASE("Standard inputs are within the bound on every mask", "[numerics]") {
  for_each_masked([](const Masked&, const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    check_close(s, s(b), interpret_outputs(s.graph(), b));
  });
}

TEST_CASE("Finite garbage at removed pairs leaves rows bit-equal", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs expected = s(clean);
    for (long key : some_keys(m))
      for (float size : {3.0f, 200.0f, 3e18f, 3e38f}) {  // scores of garbage as large as all others, far above them, beyond what f32 holds
        Bindings b = clean;
        for (const char* name : {"k", "v"}) for_row(s.interface(), b, name, key, [&](float& x, long i) { x = (i % 2 ? -size : size) / float(i + 1); });
        const Outputs got = s(b);
        INFO("key " << key << ", garbage " << size);
        const Dims& d = s.interface().outputs[0].dims;
        long wrong = 0;
        for_each_row(d, [&](long batch, long head, long i, long at) {
          if (!m.keep(batch, head, i, key)) wrong += !same_bits(Floats(got[0].begin() + at, got[0].begin() + at + d[3]), Floats(expected[0].begin() + at, expected[0].begin() + at + d[3]));
        });
        CHECK(wrong == 0);
      }
  });
}

TEST_CASE("NaN and Inf at removed pairs reach no row that removes them", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Expected expected = interpret_outputs(s.graph(), clean);
    for (long key : some_keys(m))
      for (float garbage : {quiet_nan, inf, -inf}) {
        Bindings b = clean;
        for (const char* name : {"k", "v"}) for_row(s.interface(), b, name, key, [&](float& x, long) { x = garbage; });
        const Outputs got = s(b);
        INFO("key " << key << ", garbage " << garbage);
        const Dims& d = s.interface().outputs[0].dims;
        long lost = 0, spread = 0;
        for_each_row(d, [&](long batch, long head, long i, long at) {
          const bool kept = m.keep(batch, head, i, key);
          for (long c = at; c < at + d[3]; ++c) {
            const double error = std::abs(double(got[0][std::size_t(c)]) - expected[0].v[std::size_t(c)]);
            if (kept && std::isnan(garbage)) lost += !std::isnan(got[0][std::size_t(c)]);
            if (!kept) spread += !(error <= expected[0].bound[std::size_t(c)]);
          }
        });
        CHECK(lost == 0);
        CHECK(spread == 0);
        check_close(s, got, interpret_outputs(s.graph(), b), false);
      }
  });
}

TEST_CASE("Rows without a kept key are 0, whatever the query holds", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    long empty = 0;
    for (long i = 0; i < m.q_len; ++i) {
      if (any_kept(m, 0, 0, i)) continue;
      ++empty;
      for_row(s.interface(), b, "q", i, [&](float& x, long) { x = i % 2 ? quiet_nan : inf; });
    }
    const Outputs got = s(b);
    long wrong = 0;
    const Dims& d = s.interface().outputs[0].dims;
    for_each_row(d, [&](long batch, long head, long i, long at) {
      if (any_kept(m, batch, head, i)) return;
      for (long c = at; c < at + d[3]; ++c) wrong += got[0][std::size_t(c)] != 0;
    });
    CHECK(wrong == 0);
    CHECK(not_finite(got[0]) == 0);
    CHECK((empty > 0) == (m.spec.name == "empty_rows"));
  });
}

TEST_CASE("A bias of -inf removes a pair, the most negative float does not", "[numerics]") {
  const auto biased = [](bool full_mask) {
    return spec(full_mask ? "bias_masked" : "bias", [full_mask] {
      auto q = input<2, 2, 19, 24>("q");
      auto k = input<2, 2, 35, 24>("k");
      auto v = input<2, 2, 35, 24>("v");
      auto s = matmul(q, transpose(k)) / sqrt_of<24> + input<2, 1, 19, 35>("bias");
      return full_mask ? matmul(softmax(mask(s, kv_index <= q_index + 16)), v) : matmul(softmax(mask(s, kv_index < 35)), v);
    });
  };
  for_each_subject({biased(false), biased(true)}, [](const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    check_close(s, s(clean), interpret_outputs(s.graph(), clean));

    Bindings b = clean;  // key 3 is removed everywhere, by bias; rows 5 and 6 remove all
    Floats& bias = b.find("bias")->second;
    for (long batch = 0; batch < 2; ++batch)
      for (long i = 0; i < 19; ++i)
        for (long j = 0; j < 35; ++j)
          if (j == 3 || i == 5 || i == 6) bias[std::size_t((batch * 19 + i) * 35 + j)] = -inf;
    const Outputs without = s(b);
    CHECK(not_finite(without[0]) == 0);
    check_close(s, without, interpret_outputs(s.graph(), b));
    const long width = 24;
    for (long head = 0; head < 4; ++head)
      for (long i = 5; i < 7; ++i)
        for (long c = 0; c < width; ++c) CHECK(without[0][std::size_t((head * 19 + i) * width + c)] == 0);

    Bindings garbage = b;
    for_row(s.interface(), garbage, "v", 3, [](float& x, long i) { x = i % 2 ? -3e38f : 7; });
    CHECK(same_bits(s(garbage), without));
    for_row(s.interface(), garbage, "v", 3, [](float& x, long i) { x = i % 3 ? quiet_nan : inf; });
    check_close(s, s(garbage), interpret_outputs(s.graph(), b));

    Bindings lowest = clean;
    for (float& x : lowest.find("bias")->second) x = -__FLT_MAX__;
    const Outputs got = s(lowest);
    CHECK(not_finite(got[0]) == 0);
    check_close(s, got, interpret_outputs(s.graph(), lowest));
  });
}
