// The path over exactly the pairs that count, which a block of rows takes where the fast result of one
// is not finite: what a pair must weigh to count, and what becomes of the other rows.
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

bool is_nan(float x) { return std::isnan(x); }
Floats row_of(const Outputs& o, long at, long width) { return Floats(o[0].begin() + at, o[0].begin() + at + width); }

}  // namespace

TEST_CASE("A kept pair whose weight is 0 counts, a removed one doesn't", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Dims& d = s.interface().outputs[0].dims;
    const float root = std::sqrt(float(s.interface().inputs[0].dims[3]));
    const long key = std::min(m.q_len, m.kv_len) / 2;
    Bindings b = host::standard_inputs(s.interface());
    for (long i = 0; i < m.q_len; ++i) for_row(s.interface(), b, "q", i, [&](float& x, long c) { if (c == 0) x = root; });
    for_row(s.interface(), b, "k", key, [](float& x, long c) { if (c == 0) x = -300; });
    const Expected without = interpret_outputs(s.graph(), b);
    for (const float odd : {quiet_nan, inf}) {
      Bindings lost = b;
      for_row(s.interface(), lost, "v", key, [&](float& x, long c) { if (c == 1) x = odd; });
      const Outputs got = s(lost);
      long missed = 0, spread = 0;
      for_each_row(d, [&](long batch, long head, long i, long at) {
        for (long c = 0; c < d[3]; ++c) {
          const std::size_t e = std::size_t(at + c);
          if (c == 1 && m.keep(batch, head, i, key)) missed += std::isfinite(got[0][e]);
          else spread += !(std::abs(double(got[0][e]) - without[0].v[e]) <= without[0].bound[e]);
        }
      });
      INFO(odd << " in key " << key);
      CHECK(missed == 0);
      CHECK(spread == 0);
    }
  });
}

TEST_CASE("Rows beside one that is not finite keep every bit", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Dims& d = s.interface().outputs[0].dims;
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    for (const long row : {0l, m.q_len / 2, m.q_len - 1}) {
      Bindings b = clean;
      for_row(s.interface(), b, "q", row, [](float& x, long c) { if (c == 2) x = quiet_nan; });
      const Outputs got = s(b);
      long changed = 0, wrong = 0;
      for_each_row(d, [&](long batch, long head, long i, long at) {
        bool keeps = false;
        for (long j = 0; j < m.kv_len; ++j) keeps = keeps || m.keep(batch, head, i, j);
        const Floats now = row_of(got, at, d[3]);
        if (i != row) changed += !same_bits(now, row_of(before, at, d[3]));
        else if (keeps) wrong += std::count_if(now.begin(), now.end(), is_nan) != d[3];
        else wrong += std::count(now.begin(), now.end(), 0.0f) != d[3];
      });
      INFO("NaN in query " << row);
      CHECK(changed == 0);
      CHECK(wrong == 0);
    }
  });
}

// A block of rows that are all lost leaves the fast path before its columns are through; one with a row that
// is not stays to the end.
TEST_CASE("Where all rows of a block are lost early, what they come to is the same", "[numerics]") {
  const auto long_rows = [](auto change) {
    return [change] {
      auto scores = change(matmul(input<1, 2, 200, 16>("q"), transpose(input<1, 2, 700, 16>("k"))) / sqrt_of<16>);
      return outputs("out"_a = matmul(softmax(scores), input<1, 2, 700, 16>("v")), "lse"_a = logsumexp(scores));
    };
  };
  const std::vector<Spec> specs{spec("full", long_rows([](auto s) { return s; })), spec("windowed", long_rows([](auto s) { return mask(s, kv_index <= q_index + 500 && kv_index != 40); }))};
  for_each_subject(specs, [&](const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    for (const long spared : {-1l, 0l, 5l, 130l}) {
      Bindings b = clean;
      for (long i = 0; i < 200; ++i)
        if (i != spared) for_row(s.interface(), b, "q", i, [](float& x, long c) { if (c == 2) x = quiet_nan; });
      const Outputs got = s(b);
      long wrong = 0;
      for (long row = 0; row < 2 * 200; ++row) {
        const Floats now(got[0].begin() + 16 * row, got[0].begin() + 16 * row + 16);
        if (row % 200 == spared) wrong += !same_bits(now, Floats(before[0].begin() + 16 * row, before[0].begin() + 16 * row + 16)) || got[1][std::size_t(row)] != before[1][std::size_t(row)];
        else wrong += std::count_if(now.begin(), now.end(), is_nan) != 16 || !is_nan(got[1][std::size_t(row)]);
      }
      INFO("all queries but " << spared << " hold NaN");
      CHECK(wrong == 0);
    }
    Bindings b = clean;  // every row of the result is lost in one feature, and no score
    for_row(s.interface(), b, "v", 3, [](float& x, long c) { if (c == 1) x = inf; });
    INFO("infinity in a feature of the values");
    check_close(s, s(b), interpret_outputs(s.graph(), b));
  });
}

TEST_CASE("Rows without a kept key are 0 beside rows of NaN", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Dims& d = s.interface().outputs[0].dims;
    Bindings b = host::standard_inputs(s.interface());
    for (const char* name : {"k", "v"})
      for (long j = 0; j < m.kv_len; ++j) for_row(s.interface(), b, name, j, [](float& x, long c) { x = c % 2 ? quiet_nan : inf; });
    const Outputs got = s(b);
    long wrong = 0;
    for_each_row(d, [&](long batch, long head, long i, long at) {
      bool keeps = false;
      for (long j = 0; j < m.kv_len; ++j) keeps = keeps || m.keep(batch, head, i, j);
      const Floats now = row_of(got, at, d[3]);
      wrong += keeps ? std::count_if(now.begin(), now.end(), is_nan) != d[3] : std::count(now.begin(), now.end(), 0.0f) != d[3];
    });
    CHECK(wrong == 0);
  });
}

TEST_CASE("Weights of either sign of 0 count", "[numerics]") {
  constexpr auto negative = algebra(-1.0 * max(score, 0.0), 1.0, 1.0);
  constexpr auto positive = algebra(max(score, 0.0), 1.0, 1.0);
  const auto reduced = [](const char* name, auto a) {
    return spec(name, [a] {
      auto q = input<1, 1, 21, 12>("q");
      auto k = input<1, 1, 30, 12>("k");
      auto v = input<1, 1, 30, 20>("v");
      return matmul(row_reduction(mask(matmul(q, transpose(k)), kv_index <= q_index && kv_index != 7), a), v);
    });
  };
  for_each_subject({reduced("minus_relu", negative), reduced("plus_relu", positive)}, [](const Subject& s) {
    Bindings b = host::standard_inputs(s.interface());
    const long key = 9;
    for (long i = 0; i < 21; ++i) for_row(s.interface(), b, "q", i, [](float& x, long) { x = std::abs(x); });
    for_row(s.interface(), b, "k", key, [](float& x, long) { x = -std::abs(x); });  // all its weights are 0
    const Expected without = interpret_outputs(s.graph(), b);
    check_close(s, s(b), without);
    for (const char* name : {"k", "v"}) for_row(s.interface(), b, name, 7, [](float& x, long) { x = quiet_nan; });
    check_close(s, s(b), without);
    for_row(s.interface(), b, "v", key, [](float& x, long c) { if (c == 3) x = inf; });
    const Outputs got = s(b);
    long missed = 0, spread = 0;
    for (long i = 0; i < 21; ++i)
      for (long c = 0; c < 20; ++c) {
        const std::size_t e = std::size_t(i * 20 + c);
        if (c == 3 && i >= key) missed += !std::isnan(got[0][e]);
        else spread += !(std::abs(double(got[0][e]) - without[0].v[e]) <= without[0].bound[e]);
      }
    CHECK(missed == 0);
    CHECK(spread == 0);
  });
}

// In units of log 2 these scores are beyond what f32 holds.
TEST_CASE("Scores near the greatest float are weighed in natural units", "[numerics]") {
  const Spec unscaled = spec("unscaled", [] {
    auto q = input<1, 1, 21, 8>("q");
    auto k = input<1, 1, 40, 8>("k");
    auto v = input<1, 1, 40, 24>("v");
    return matmul(softmax(mask(matmul(q, transpose(k)), kv_index <= q_index + 3)), v);
  });
  for_each_subject({unscaled}, [](const Subject& s) {
    for (const float size : {3e38f, -3e38f}) {
      Bindings b = host::standard_inputs(s.interface());
      Floats &q = b.find("q")->second, &k = b.find("k")->second;
      const Floats& v = b.find("v")->second;
      std::fill(q.begin(), q.end(), 0.0f);
      std::fill(k.begin(), k.end(), 0.0f);
      for (long i = 0; i < 21; ++i) q[std::size_t(8 * i)] = 1;
      for (long j = 0; j < 40; ++j) k[std::size_t(8 * j)] = size;
      const Outputs got = s(b);
      double worst = 0;
      for (long i = 0; i < 21; ++i)
        for (long c = 0; c < 24; ++c) {
          double mean = 0;
          for (long j = 0; j <= i + 3; ++j) mean += double(v[std::size_t(24 * j + c)]) / double(i + 4);
          const double error = std::abs(double(got[0][std::size_t(24 * i + c)]) - mean);
          worst = std::isnan(error) ? inf : std::fmax(worst, error);
        }
      INFO("scores of " << size);
      CHECK(worst < 1e-5);
    }
  });
}
