// Promise 3: NaN and Inf propagate, and no further than they should.
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

}  // namespace

TEST_CASE("A NaN in a query or a kept key makes whole rows NaN, and those alone", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    const Dims& d = s.interface().outputs[0].dims;
    for (const bool in_key : {false, true}) {
      const long row = in_key ? std::min(m.q_len, m.kv_len) / 2 : m.q_len - 1;
      Bindings b = clean;
      for_row(s.interface(), b, in_key ? "k" : "q", row, [&](float& x, long i) { if (i == 3) x = quiet_nan; });
      const Outputs got = s(b);
      long lost = 0, spread = 0;
      for_each_row(d, [&](long batch, long head, long i, long at) {
        const bool hit = in_key ? m.keep(batch, head, i, row) : i == row;
        const long bad = std::count_if(got[0].begin() + at, got[0].begin() + at + d[3], is_nan);
        lost += hit && bad != d[3];
        spread += !hit && bad != 0;
      });
      INFO((in_key ? "in key " : "in query ") << row);
      CHECK(lost == 0);
      CHECK(spread == 0);
      check_close(s, got, interpret_outputs(s.graph(), b), false);
    }
    (void)before;
  });
}

TEST_CASE("NaN or Inf in a kept value makes one column non-finite", "[numerics]") {
  for_each_masked([](const Masked& m, const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Expected expected = interpret_outputs(s.graph(), clean);
    const Dims& d = s.interface().outputs[0].dims;
    const long key = std::min(m.q_len, m.kv_len) / 2;
    for (const float odd : {quiet_nan, inf, -inf})
      for (const long column : {0l, d[3] / 2, d[3] - 1}) {
        Bindings b = clean;
        for_row(s.interface(), b, "v", key, [&](float& x, long i) { if (i == column) x = odd; });
        const Outputs got = s(b);
        long lost = 0, spread = 0;
        for_each_row(d, [&](long batch, long head, long i, long at) {
          const bool kept = m.keep(batch, head, i, key);
          for (long c = 0; c < d[3]; ++c) {
            const std::size_t e = std::size_t(at + c);
            if (kept && c == column) lost += std::isfinite(got[0][e]);
            else spread += !(std::abs(double(got[0][e]) - expected[0].v[e]) <= expected[0].bound[e]);
          }
        });
        INFO(odd << " in key " << key << ", column " << column);
        CHECK(lost == 0);
        CHECK(spread == 0);
      }
  });
}

TEST_CASE("A score of NaN or +inf makes its whole row NaN", "[numerics]") {
  const Spec biased = spec("row_bias", [] {
    auto q = input<1, 2, 19, 24>("q");
    auto k = input<1, 2, 45, 24>("k");
    auto v = input<1, 2, 45, 24>("v");
    return matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<24> + input<1, 1, 19, 45>("bias"), kv_index <= q_index + 26)), v);
  });
  for_each_subject({biased}, [](const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    for (const float odd : {quiet_nan, inf})
      for (const long column : {0l, 7l, 26l, 30l}) {  // row 4 keeps 0..30, row 3 removes 30
        Bindings b = clean;
        for (const long row : {3l, 4l}) b.find("bias")->second[std::size_t(row * 45 + column)] = odd;
        const Outputs got = s(b);
        INFO(odd << " at column " << column);
        for (long head = 0; head < 2; ++head)
          for (long i = 0; i < 19; ++i) {
            const auto at = got[0].begin() + (head * 19 + i) * 24;
            const bool hit = i == 4 || (i == 3 && column <= 29);
            CHECK(std::count_if(at, at + 24, is_nan) == (hit ? 24 : 0));
          }
      }
  });
}
