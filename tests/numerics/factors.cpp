// Factors of pairs on weights that the row's sum has taken: dropout by a given mask, decay, tables. By
// formula, where rows are mended, and on the path over exactly the pairs that count.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

constexpr long queries = 37, keys = 300, key_dim = 8, value_dim = 12;
constexpr auto by_distance = table<float32, queries + keys>("by_distance");
constexpr auto sigmoid = algebra(1.0 / (1.0 + exp(-score)), 1.0, 1.0);

// The factored weights' product, and the logarithm of their sum.
template <class A, class L, class F>
Spec factored(const char* name, A a, L log_of_sum, F change) {
  return spec(name, [=] {
    auto q = input<1, 2, queries, key_dim>("q");
    auto k = input<1, 2, keys, key_dim>("k");
    auto v = input<1, 2, keys, value_dim>("v");
    auto s = mask(matmul(q, transpose(k)) / sqrt_of<key_dim>, kv_index <= q_index + 200);
    return outputs("y"_out = matmul(change(row_reduction(s, a)), v), "sum"_out = row_value(s, a, log_of_sum));
  });
}
template <class F>
Spec of_softmax(const char* name, F change) { return factored(name, softmax_algebra, row_max + log(row_sum), change); }
bool counts(long i, long j) { return j <= i + 200; }

std::vector<Spec> specs() {
  return {
      of_softmax("factors_dropout", [](auto p) { return p * input<1, 1, queries, keys>("kept") / 0.8; }),
      of_softmax("factors_by_index", [](auto p) { return exp(-0.03 * (q_index + 200 - kv_index)) * p * input<2, 1, keys>("of_head"); }),
      of_softmax("factors_by_table", [](auto p) { return p * by_distance(q_index - kv_index + (keys - 1)) * input<keys>("of_key"); }),
      factored("factors_sigmoid", sigmoid, log(row_sum), [](auto p) { return p * input<queries, keys>("kept"); }),
  };
}

// The factor of a pair, from the inputs.
double factor(std::size_t which, const Bindings& b, long h, long i, long j) {
  const auto at = [&](const char* name, long n) { return double(b.find(name)->second[std::size_t(n)]); };
  switch (which) {
    case 0: return at("kept", i * keys + j) / 0.8;
    case 1: return std::exp(-0.03 * double(i + 200 - j)) * at("of_head", h * keys + j);
    case 2: return at("by_distance", i - j + keys - 1) * at("of_key", j);
    default: return at("kept", i * keys + j);
  }
}

void check_formula(std::size_t which, const Bindings& b, const Outputs& got, double largest_score) {
  const auto at = [&](const char* name, long n) { return double(b.find(name)->second[std::size_t(n)]); };
  double worst = 0, worst_sum = 0;
  for (long h = 0; h < 2; ++h)
    for (long i = 0; i < queries; ++i) {
      std::vector<double> s;
      double top = -double(inf), sum = 0;
      for (long j = 0; j < keys && counts(i, j); ++j) {
        double dot = 0;
        for (long d = 0; d < key_dim; ++d) dot += at("q", (h * queries + i) * key_dim + d) * at("k", (h * keys + j) * key_dim + d);
        s.push_back(dot / std::sqrt(double(key_dim)));
        top = std::fmax(top, s.back());
      }
      for (double& x : s) {
        x = which == 3 ? 1 / (1 + std::exp(-x)) : std::exp(x - top);
        sum += x;
      }
      const double log_sum = std::log(sum) + (which == 3 ? 0 : top);
      worst_sum = std::fmax(worst_sum, std::abs(double(got[1][std::size_t(h * queries + i)]) - log_sum) / (1 + std::abs(log_sum)));
      for (long d = 0; d < value_dim; ++d) {
        double y = 0, size = 1e-30;
        for (std::size_t j = 0; j < s.size(); ++j) {
          const double term = s[j] / (which == 3 ? 1 : sum) * factor(which, b, h, i, long(j)) * at("v", (h * keys + long(j)) * value_dim + d);
          y += term;
          size += std::abs(term);
        }
        worst = std::fmax(worst, std::abs(double(got[0][std::size_t((h * queries + i) * value_dim + d)]) - y) / size);
      }
    }
  CHECK(worst < 1e-6 * (30 + largest_score));
  CHECK(worst_sum < 3e-6);
}

}  // namespace

TEST_CASE("Factors of pairs multiply weights behind their sum", "[numerics]") {
  const std::vector<Spec> all = specs();
  std::size_t n = 0;
  for_each_subject(all, [&](const Subject& s) {
    const std::size_t which = n++ / targets().size();
    const Bindings standard = host::standard_inputs(s.interface());
    // Scores that rise from key to key, by a little and by a lot: references fall behind and are mended.
    for (const float rise : {0.0f, 0.4f, 8.0f}) {
      INFO(s.name() << ", rising by " << rise);
      Bindings b = standard;
      if (rise > 0) {
        for (long i = 0; i < queries; ++i) for_row(s.interface(), b, "q", i, [](float& x, long d) { x = d == 0 ? std::sqrt(float(key_dim)) : 0.3f * x; });
        for (long j = 0; j < keys; ++j) for_row(s.interface(), b, "k", j, [&](float& x, long d) { if (d == 0) x = rise * float(j % 97); });
      }
      if (const auto kept = b.find("kept"); kept != b.end())
        for (float& x : kept->second) x = x > 0.8f ? 0 : 1;
      const Outputs got = s(b);
      check_close(s, got, interpret_outputs(s.graph(), b));
      check_formula(which, b, got, double(97 * rise));
    }
  });
}

TEST_CASE("Factors where a pair is removed or a value is not finite", "[numerics]") {
  for_each_subject({specs()[0]}, [](const Subject& s) {
    Bindings clean = host::standard_inputs(s.interface());
    Floats& kept = clean.find("kept")->second;
    for (long i = 0; i < queries; ++i)
      for (long j = 0; j < keys; ++j) kept[std::size_t(i * keys + j)] = (i + j) % 5 ? 1.0f : -0.0f;
    const Outputs before = s(clean);
    const Expected wanted = interpret_outputs(s.graph(), clean);
    for (const float odd : {quiet_nan, inf}) {
      Bindings b = clean;  // whatever the factor of a removed pair is
      for (long i = 0; i < queries; ++i)
        for (long j = 0; j < keys; ++j)
          if (!counts(i, j)) b.find("kept")->second[std::size_t(i * keys + j)] = odd;
      for (long j = 250; j < keys; ++j) for_row(s.interface(), b, "v", j, [&](float& x, long) { x = odd; });
      check_close(s, s(b), wanted);
    }
    Bindings b = clean;  // 0 times NaN is NaN, as it would be if all were stored; a factor of -0 is no removal
    for_row(s.interface(), b, "v", 7, [](float& x, long d) { x = d == 2 ? quiet_nan : x; });
    const Outputs got = s(b);
    long missed = 0, spread = 0;
    for (std::size_t e = 0; e < got[0].size(); ++e) {
      if (e % value_dim == 2) missed += std::isfinite(got[0][e]);
      else spread += !(std::abs(double(got[0][e]) - wanted[0].v[e]) <= wanted[0].bound[e]);
    }
    CHECK(missed == 0);
    CHECK(spread == 0);
  });
}

TEST_CASE("Factored weights stream", "[numerics]") {
  for (const Spec& x : specs()) {
    INFO(x.name);
    const std::string text = explain(x.graph, {.name = x.name, .spec = x.name, .command = "", .isas = {"avx2"}});
    CHECK_THAT(text, Catch::Contains("avx2: workspace 0 bytes"));
    CHECK_THAT(text, !Catch::Contains("elementwise"));
  }
}
