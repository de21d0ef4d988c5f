#include "passes/block_map.h"
#include <catch2/catch.hpp>
#include <cstdio>
#include <cstdlib>
#include <ctime>
#include <random>
#include "predicates.h"

using namespace attune;
using attune::test::patterns;
using attune::test::PredicateCase;

namespace {

constexpr long batches = 2, heads = 3;

// What is kept of the rows [q0, q1) and of kv [kv0, kv1), over all batches and heads.
Kept count(const PredicateCase& p, long q0, long q1, long kv0, long kv1) {
  bool kept = false, removed = false;
  for (long b = 0; b < batches; ++b)
    for (long h = 0; h < heads; ++h)
      for (long q = q0; q < q1; ++q)
        for (long kv = kv0; kv < kv1; ++kv) (p.keeps(b, h, q, kv) ? kept : removed) = true;
  return kept && removed ? Kept::mixed : kept ? Kept::all : Kept::none;
}

}  // namespace

TEST_CASE("Runs cover exactly the blocks that keep something", "[passes][block_map]") {
  constexpr long q_len = 45, kv_len = 61;
  for (const PredicateCase& p : patterns(1)) {
    const IndexAnalysis a(p.graph, p.node, batches, heads);
    for (auto [q_step, kv_step] : {std::pair<long, long>{1, 1}, {5, 4}, {8, 8}, {3, 16}, {64, 64}, {45, 61}, {1, 7}}) {
      INFO(p.name << ", blocks of " << q_step << " x " << kv_step);
      const BlockMap m = block_map(a, q_len, kv_len, q_step, kv_step);
      REQUIRE(long(m.rows.size()) == (q_len + q_step - 1) / q_step);
      for (long i = 0; i < long(m.rows.size()); ++i) {
        INFO("row of blocks " << i);
        std::vector<Run> expected;
        for (long kv = 0; kv < kv_len; kv += kv_step) {
          const long end = std::min(kv + kv_step, kv_len);
          const Kept kept = count(p, i * q_step, std::min((i + 1) * q_step, q_len), kv, end);
          if (kept == Kept::none) continue;
          if (!expected.empty() && expected.back().end == kv && expected.back().kept == kept) expected.back().end = end;
          else expected.push_back({kv, end, kept});
        }
        CHECK(m.rows[std::size_t(i)] == expected);
      }
    }
  }
}

TEST_CASE("Kept pairs and rows without any are counted exactly", "[passes][block_map]") {
  for (const PredicateCase& p : patterns(1)) {
    const IndexAnalysis a(p.graph, p.node, batches, heads);
    for (auto [q_len, kv_len] : {std::pair<long, long>{1, 1}, {45, 61}, {80, 33}, {1, 70}, {70, 1}}) {
      INFO(p.name << ", " << q_len << " x " << kv_len);
      long kept = 0;
      std::vector<int> rows;
      for (long q = 0; q < q_len; ++q) {
        bool without = false;
        for (long b = 0; b < batches; ++b)
          for (long h = 0; h < heads; ++h) {
            long row = 0;
            for (long kv = 0; kv < kv_len; ++kv) row += p.keeps(b, h, q, kv);
            kept += row;
            without |= row == 0;
          }
        if (without) rows.push_back(int(q));
      }
      CHECK(kept_pairs(a, batches, heads, q_len, kv_len) == kept);
      CHECK(rows_without_any(a, q_len, kv_len) == rows);
    }
  }
}

TEST_CASE("A score matrix without rows or keys has no runs", "[passes][block_map]") {
  const PredicateCase p = patterns(1)[0];
  const IndexAnalysis a(p.graph, p.node, batches, heads);
  CHECK(block_map(a, 0, 8, 4, 4).rows.empty());
  CHECK(block_map(a, 8, 0, 4, 4).rows == std::vector<std::vector<Run>>(2));
  CHECK(kept_pairs(a, batches, heads, 0, 8) == 0);
  CHECK(kept_pairs(a, batches, heads, 8, 0) == 0);
  CHECK(kept_pairs(a, 0, heads, 8, 8) == 0);
  CHECK(rows_without_any(a, 0, 8).empty());
  CHECK(rows_without_any(a, 2, 0) == std::vector<int>{0, 1});
}

TEST_CASE("An affine fit is exact whenever one exists", "[passes][block_map]") {
  constexpr long limit = 3;
  for (int length = 0; length <= 5; ++length) {
    long sequences = 1;
    for (int i = 0; i < length; ++i) sequences *= limit + 1;
    for (long s = 0; s < sequences; ++s) {
      std::vector<long> values;
      for (long rest = s; int(values.size()) < length; rest /= limit + 1) values.push_back(rest % (limit + 1));
      bool exists = false;
      for (long step = -4; step <= 4; ++step)
        for (long offset = -24; offset <= 24; ++offset) {
          bool same = true;
          for (long i = 0; i < length; ++i) same &= std::clamp(step * i + offset, 0L, limit) == values[std::size_t(i)];
          exists |= same;
        }
      const Affine a = fit_affine(values, limit);
      CAPTURE(values, a.step, a.offset);
      REQUIRE(a.exact == exists);
      CHECK(a.limit == limit);
      for (std::size_t i = 0; exists && i < values.size(); ++i) CHECK(a(long(i)) == values[i]);
    }
  }
}

TEST_CASE("An affine fit finds the bounds of masks", "[passes][block_map]") {
  std::mt19937 random(Catch::rngSeed());
  for (int n = 0; n < 500; ++n) {
    const long limit = long(random() % 5000), step = long(random() % 400) - 200, offset = long(random() % 8000) - 4000;
    std::vector<long> values;
    for (long i = 0; i < 1 + long(random() % 60); ++i) values.push_back(std::clamp(step * i + offset, 0L, limit));
    const Affine a = fit_affine(values, limit);
    CAPTURE(Catch::rngSeed(), step, offset, limit);
    REQUIRE(a.exact);
    for (std::size_t i = 0; i < values.size(); ++i) CHECK(a(long(i)) == values[i]);
  }
  CHECK_FALSE(fit_affine({0, 1, 4, 9}, 100).exact);
  CHECK_FALSE(fit_affine({8, 8, 16, 16}, 64).exact);  // chunks of two
  CHECK_FALSE(fit_affine({-1, 0, 1}, 64).exact);
  CHECK_FALSE(fit_affine({63, 64, 65}, 64).exact);
}

TEST_CASE("The picture of a block map", "[passes][block_map]") {
  const auto drawn = [](auto predicate, long q_len, long kv_len, long step) {
    const Graph g = test::masked(predicate);
    return draw(block_map(IndexAnalysis(g, test::predicate_of(g), 1, 1), q_len, kv_len, step, step));
  };
  CHECK(drawn(kv_index <= q_index, 16, 16, 4) ==
        "+...\n"
        "#+..\n"
        "##+.\n"
        "###+\n"
        "# all 37.5 %   + mixed 25.0 %   . none 37.5 %   computed: 62.5 % of 4 x 4 blocks of 4 x 4\n");
  CHECK(drawn(kv_index <= q_index && (q_index - kv_index < 4 || kv_index < 4), 16, 14, 4) ==
        "+...\n"
        "#+..\n"
        "#++.\n"
        "#.++\n"
        "# all 18.8 %   + mixed 37.5 %   . none 43.8 %   computed: 56.2 % of 4 x 4 blocks of 4 x 4\n");
  CHECK(drawn(kv_index < 0, 8, 0, 4) == "no scores\n");
  const std::string wide = drawn(kv_index / 64 < q_index / 64, 4096, 8192, 64);  // 64 x 128 blocks: a character is 2 x 2
  CHECK(wide.find('\n') == 64);
  CHECK(wide.substr(0, 4) == "+...");
  CHECK(wide.substr(65, 4) == "#+..");
  CHECK(wide.find("a character is 2 x 2 blocks\n") != std::string::npos);
}

#if defined(__has_feature)
#if __has_feature(address_sanitizer)
#define __SANITIZE_ADDRESS__ 1
#endif
#endif
#if defined(__OPTIMIZE__) && !defined(__SANITIZE_ADDRESS__)
// A guard against work that grows with the scores where bounds could decide, in processor seconds.
TEST_CASE("Long sequences are analysed quickly", "[passes][block_map]") {
  constexpr long len = 4096;
  const auto seconds = [](auto f) {
    const std::clock_t start = std::clock();
    f();
    return double(std::clock() - start) / CLOCKS_PER_SEC;
  };
  double total = 0;
  for (const PredicateCase& p : patterns(32)) {
    INFO(p.name);
    const IndexAnalysis a(p.graph, p.node, 1, 1);
    const double map = seconds([&] { CHECK(long(block_map(a, len, len, 64, 64).rows.size()) == len / 64); });
    const double count = seconds([&] { CHECK(kept_pairs(a, 1, 1, len, len) >= 0); });
    const double rows = seconds([&] { CHECK(long(rows_without_any(a, len, len).size()) <= len); });
    CAPTURE(map, count, rows);
    CHECK(map + count + rows < 2);
    total += map + count + rows;
    if (p.name == "causal") CHECK(map + count + rows < 0.1);
    if (std::getenv("ATTUNE_TIMES"))
      std::printf("%-26s map %7.2f ms, count %7.2f ms, rows %7.2f ms\n", p.name.c_str(), 1e3 * map, 1e3 * count, 1e3 * rows);
  }
  CHECK(total < 4);
}
#endif
