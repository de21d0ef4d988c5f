// Numbers of rows beside the product with values: by their formulas, of rows that keep nothing, and on
// the path that mends rows; and the merge of parts by log-sum-exp.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

namespace {

constexpr auto sinks = table<float32, 2>("sinks");
constexpr auto softmax_one = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(-row_max)));
constexpr auto with_sink = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(sinks(head_index) - row_max)));
constexpr auto sigmoid = algebra(1.0 / (1.0 + exp(-score)), 1.0, 1.0);

constexpr long queries = 26, keys = 150, key_dim = 16, value_dim = 20;

// Several numbers of the same rows: "y", then those that `values` makes of the scores.
template <class A, class F>
Spec valued(const char* name, A a, F values) {
  return spec(name, [a, values] {
    auto q = input<1, 2, queries, key_dim>("q");
    auto k = input<1, 2, keys, key_dim>("k");
    auto v = input<1, 2, keys, value_dim>("v");
    auto s = mask(matmul(q, transpose(k)) / sqrt_of<key_dim>, kv_index + 3 <= q_index || (q_index > 8 && kv_index < 5 * q_index));
    return values(s, matmul(row_reduction(s, a), v));
  });
}
bool counts(long i, long j) { return j + 3 <= i || (i > 8 && j < 5 * i); }

Spec of_softmax() {
  return valued("row_values_softmax", softmax_algebra, [](auto s, auto y) { return outputs("lse"_out = logsumexp(s), "y"_out = y, "normaliser"_out = row_value(s, softmax_algebra, row_sum * exp(row_max))); });
}
Spec of_softmax_one() {
  return valued("row_values_one", softmax_one, [](auto s, auto y) { return outputs("y"_out = y, "lse"_out = row_value(s, softmax_one, row_max + log(row_sum + exp(-row_max)))); });
}
Spec of_sink() {
  return valued("row_values_sink", with_sink, [](auto s, auto y) { return outputs("y"_out = y, "lse"_out = row_value(s, with_sink, row_max + log(row_sum + exp(sinks(head_index) - row_max)))); });
}
Spec of_sigmoid() {
  return valued("row_values_sigmoid", sigmoid, [](auto s, auto y) { return outputs("total"_out = row_value(s, sigmoid, row_sum), "y"_out = y); });
}
Spec of_greatest() {  // this one needs the true maximum, not just any reference
  return valued("row_values_greatest", softmax_algebra, [](auto s, auto y) { return outputs("y"_out = y, "greatest"_out = row_value(s, softmax_algebra, row_max)); });
}

// The row's number from its kept scores.
using Formula = std::function<double(long head, const std::vector<double>& scores)>;
double lse_of(const std::vector<double>& s, double more) {
  double top = -double(inf), sum = 0;
  for (double x : s) top = std::fmax(top, x);
  top = std::fmax(top, more);
  for (double x : s) sum += std::exp(x - top);
  return top == -double(inf) ? top : top + std::log(sum + std::exp(more - top));
}

std::vector<double> scores_of(const Bindings& b, long h, long i) {
  const Floats &q = b.find("q")->second, &k = b.find("k")->second;
  std::vector<double> s;
  for (long j = 0; j < keys; ++j) {
    if (!counts(i, j)) continue;
    double dot = 0;
    for (long d = 0; d < key_dim; ++d) dot += double(q[std::size_t((h * queries + i) * key_dim + d)]) * double(k[std::size_t((h * keys + j) * key_dim + d)]);
    s.push_back(dot / std::sqrt(double(key_dim)));
  }
  return s;
}

std::size_t place_of(const Subject& s, const std::string& output) {
  for (std::size_t i = 0; i < s.interface().outputs.size(); ++i)
    if (s.interface().outputs[i].name == output) return i;
  throw std::logic_error("no such output");
}

}  // namespace

TEST_CASE("Numbers of rows follow their formulas", "[numerics]") {
  const std::vector<Spec> specs{of_softmax(), of_softmax_one(), of_sink(), of_sigmoid(), of_greatest()};
  const std::vector<std::string> names{"lse", "lse", "lse", "total", "greatest"};
  Bindings given;
  const std::vector<Formula> formulas{
      [](long, const auto& s) { return lse_of(s, -double(inf)); },
      [](long, const auto& s) { return lse_of(s, 0); },
      [&](long h, const auto& s) { return lse_of(s, double(given.find("sinks")->second[std::size_t(h)])); },
      [](long, const auto& s) {
        double sum = 0;
        for (double x : s) sum += 1 / (1 + std::exp(-x));
        return sum;
      },
      [](long, const auto& s) {
        double top = -double(inf);
        for (double x : s) top = std::fmax(top, x);
        return top;
      }};
  std::size_t n = 0;
  for_each_subject(specs, [&](const Subject& s) {
    const std::size_t which = n++ / targets().size();
    for (const float factor : {1.0f, 30.0f}) {
      given = host::standard_inputs(s.interface());
      for (float& x : given.find("q")->second) x *= factor;
      const Outputs got = s(given);
      if (factor == 1 || which != 0) check_close(s, got, interpret_outputs(s.graph(), given));  // e^100 is beyond f32
      double worst = 0;
      for (long h = 0; h < 2; ++h)
        for (long i = 0; i < queries; ++i) {
          const double wanted = formulas[which](h, scores_of(given, h, i)), is = double(got[place_of(s, names[which])][std::size_t(h * queries + i)]);
          if (std::isinf(wanted)) CHECK(is == wanted);
          else worst = std::fmax(worst, std::abs(is - wanted) / (1 + std::abs(wanted)));
        }
      CHECK(worst < 3e-6);
    }
  });
}

TEST_CASE("Numbers of rows hold where rows are mended", "[numerics]") {
  for_each_subject({of_softmax(), of_softmax_one(), of_greatest()}, [](const Subject& s) {
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    const Expected wanted = interpret_outputs(s.graph(), clean);
    const std::size_t y = place_of(s, "y");
    Bindings b = clean;  // NaN in a value: columns of y, and nothing of the rows' numbers
    for_row(s.interface(), b, "v", 2, [](float& x, long d) { x = d == 3 ? quiet_nan : x; });
    Outputs got = s(b);
    CHECK(not_finite(got[y]) > 0);
    for (std::size_t o = 0; o < got.size(); ++o) {
      if (o == y) continue;
      long wrong = 0;
      for (std::size_t i = 0; i < got[o].size(); ++i) wrong += !(double(got[o][i]) == wanted[o].v[i] || std::abs(double(got[o][i]) - wanted[o].v[i]) <= wanted[o].bound[i]);
      CHECK(wrong == 0);
    }
    b = clean;  // NaN in a query: its own row, and every bit of the others
    for_row(s.interface(), b, "q", 12, [](float& x, long) { x = quiet_nan; });
    got = s(b);
    for (std::size_t o = 0; o < got.size(); ++o) {
      const std::size_t width = o == y ? value_dim : 1;
      long lost = 0, changed = 0;
      for (std::size_t i = 0; i < got[o].size(); ++i) {
        if (i / width % queries == 12) lost += std::isnan(got[o][i]);
        else changed += !same_bits(Floats{got[o][i]}, Floats{before[o][i]});
      }
      CHECK(lost == long(2 * width));
      CHECK(changed == 0);
    }
    b = clean;  // keys that no row keeps: 0 to 2 keep nothing at all, whatever it is
    for (long i = 0; i < 3; ++i) for_row(s.interface(), b, "q", i, [](float& x, long) { x = quiet_nan; });
    CHECK(same_bits(s(b), before));
  });
}

TEST_CASE("Parts merged by their log-sum-exp are the whole", "[numerics]") {
  const auto halves = spec("merged_parts", [] {
    auto q = input<1, 2, queries, key_dim>("q");
    auto k = input<1, 2, keys, key_dim>("k");
    auto v = input<1, 2, keys, value_dim>("v");
    auto s = mask(matmul(q, transpose(k)) / sqrt_of<key_dim>, kv_index + 3 <= q_index || (q_index > 8 && kv_index < 5 * q_index));
    const auto part = [&](auto keep) { return mask(s, keep); };
    auto a = part(kv_index < 20), b = part(kv_index >= 20);
    auto [o, lse] = merge_by_lse(matmul(softmax(a), v), logsumexp(a), matmul(softmax(b), v), logsumexp(b));
    return outputs("o"_out = o, "lse"_out = lse);
  });
  for_each_subject({halves}, [](const Subject& s) {
    for (const float factor : {1.0f, 30.0f}) {
      Bindings b = host::standard_inputs(s.interface());
      for (float& x : b.find("q")->second) x *= factor;
      const Outputs got = s(b);
      check_close(s, got, interpret_outputs(s.graph(), b));
      const Floats& v = b.find("v")->second;
      for (long h = 0; h < 2; ++h)
        for (long i = 0; i < queries; ++i) {
          const std::vector<double> scores = scores_of(b, h, i);
          const double lse = lse_of(scores, -double(inf)), is = double(got[1][std::size_t(h * queries + i)]);
          CHECK((is == lse || std::abs(is - lse) < 3e-6 * (1 + std::abs(lse))));
          for (long d = 0; d < value_dim; ++d) {
            double y = 0, size = 1e-30;
            std::size_t n = 0;
            for (long j = 0; j < keys; ++j) {
              if (!counts(i, j)) continue;
              const double term = std::exp(scores[n++] - lse) * double(v[std::size_t((h * keys + j) * value_dim + d)]);
              y += term;
              size += std::abs(term);
            }
            const double o = double(got[0][std::size_t((h * queries + i) * value_dim + d)]);
            if (scores.empty()) CHECK(o == 0);
            else CHECK(std::abs(o - y) < 3e-5 * size);
          }
        }
    }
  });
}

TEST_CASE("Values and factors that need the rows' numbers", "[numerics]") {
  const auto itself = spec("row_values_itself", [] {
    auto q = input<1, 2, 34, 16>("q");
    auto v = input<1, 2, 34, 16>("v");
    auto s = mask(matmul(q, transpose(v)) / sqrt_of<16>, kv_index <= q_index);
    auto lse = logsumexp(s);
    auto by_key = transpose(unsqueeze<-1>(lse));  // [1, 2, 1, 34]
    return outputs("lse"_out = lse, "y"_out = matmul(softmax(s), v * unsqueeze<-1>(lse)), "z"_out = matmul(softmax(s) * by_key, v));
  });
  for_each_subject({itself}, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    double worst = 0;  // a factor of a key is one of its value
    for (std::size_t i = 0; i < got[1].size(); ++i) worst = std::fmax(worst, std::abs(double(got[1][i]) - double(got[2][i])));
    CHECK(worst < 1e-4);
  });
}

TEST_CASE("A row's numbers come out of the stream of its weights", "[numerics]") {
  for (const Spec& x : {of_softmax(), of_softmax_one(), of_sink(), of_sigmoid(), of_greatest()}) {
    INFO(x.name);
    const std::string whole = explain(x.graph, {.name = x.name, .spec = x.name, .command = "", .isas = {"avx2"}}), text = whole.substr(0, whole.find("avx2 by the model"));
    CHECK_THAT(text, Catch::Contains("avx2: workspace 0 bytes"));
    std::size_t regions = 0;
    for (std::size_t at = text.find("\n  "); at != std::string::npos; at = text.find("\n  ", at + 1)) ++regions;
    CHECK(regions == 1);
  }
}

namespace {

// Numbers of rows and no product: a log-sum-exp and a total, a greatest score, which needs the true maximum, over 300
// keys in blocks.
constexpr long many_keys = 300;
Spec alone() {
  return spec("row_values_alone", [] {
    auto s = mask(matmul(input<1, 2, queries, key_dim>("q"), transpose(input<1, 2, many_keys, key_dim>("k"))) / sqrt_of<key_dim>, kv_index + 3 <= q_index || (q_index > 8 && kv_index < 12 * q_index));
    auto lse = logsumexp(s);
    return outputs("lse"_out = lse, "total"_out = row_value(s, sigmoid, row_sum), "greatest"_out = row_value(s + 1.0, softmax_algebra, row_max), "twice"_out = lse + lse);
  });
}
bool counts_alone(long i, long j) { return j + 3 <= i || (i > 8 && j < 12 * i); }

}  // namespace

TEST_CASE("Numbers of rows without a product stream too", "[numerics]") {
  const Spec spec = alone();
  const std::string text = explain(spec.graph, {.name = "alone", .spec = "alone", .command = "", .isas = {"avx2"}});
  CHECK_THAT(text, Catch::Contains("workspace 0 bytes") && Catch::Contains("no values are read") && !Catch::Contains("plain loops") && !Catch::Contains("stored matrix"));
  for_each_subject({spec}, [](const Subject& s) {
    for (const host::Case& c : host::check_cases(s.graph(), s.interface())) {
      INFO(c.name);
      check_close(s, s(c.values), interpret_outputs(s.graph(), c.values), c.finite);
    }
    const Bindings clean = host::standard_inputs(s.interface());
    const Outputs before = s(clean);
    const Floats &q = clean.find("q")->second, &k = clean.find("k")->second;
    double worst = 0;
    for (long h = 0; h < 2; ++h)
      for (long i = 0; i < queries; ++i) {
        std::vector<double> scores;
        for (long j = 0; j < many_keys; ++j) {
          double dot = 0;
          for (long d = 0; d < key_dim; ++d) dot += double(q[std::size_t((h * queries + i) * key_dim + d)]) * double(k[std::size_t((h * many_keys + j) * key_dim + d)]);
          if (counts_alone(i, j)) scores.push_back(dot / std::sqrt(double(key_dim)));
        }
        double total = 0, greatest = -double(inf);
        for (double x : scores) total += 1 / (1 + std::exp(-x)), greatest = std::fmax(greatest, x + 1);
        const double wanted[] = {lse_of(scores, -double(inf)), total, greatest};
        for (std::size_t o = 0; o < 3; ++o) {
          const double is = double(before[o][std::size_t(h * queries + i)]);
          if (scores.empty()) CHECK(is == wanted[o]);
          else worst = std::fmax(worst, std::abs(is - wanted[o]) / (1 + std::abs(wanted[o])));
        }
      }
    CHECK(worst < 3e-6);
    Bindings b = clean;  // NaN in a query, and one of huge scores: their own rows, and every bit of the others
    for_row(s.interface(), b, "q", 12, [](float& x, long) { x = quiet_nan; });
    for_row(s.interface(), b, "q", 20, [](float& x, long) { x *= 3e4f; });
    const Outputs got = s(b);
    for (std::size_t o = 0; o < got.size(); ++o) {
      long lost = 0, changed = 0;
      for (std::size_t i = 0; i < got[o].size(); ++i) {
        if (i % queries == 12) lost += std::isnan(got[o][i]);
        else if (i % queries != 20) changed += !same_bits(Floats{got[o][i]}, Floats{before[o][i]});
      }
      CHECK(lost == 2);
      CHECK(changed == 0);
    }
    check_close(s, got, interpret_outputs(s.graph(), b), false);
  });
}
