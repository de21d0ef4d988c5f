// Masks whose edges are easily drawn one off: what each keeps, by hand.
#include <catch2/catch.hpp>
#include <numeric>
#include <zoo/textbook.h>
#include "passes/block_map.h"
#include "predicates.h"

using namespace attune;

namespace {

struct Masked {
  Graph graph;
  IndexAnalysis analysis;
  template <class E>
  explicit Masked(E predicate, long batches = 1) : graph(test::masked(predicate)), analysis(graph, test::predicate_of(graph), batches, 1) {}
  // The kv that row q keeps, which must be successive: [begin, end), or [0, 0).
  std::pair<long, long> keys(long q, long kv_len, long batch = 0) const {
    const Block row{batch, batch + 1, 0, 1, q, q + 1, 0, kv_len};
    const long first = analysis.first_kept(row), last = analysis.last_kept(row);
    CHECK(analysis.count_kept(row) == (first < 0 ? 0 : last - first + 1));
    return first < 0 ? std::pair<long, long>{0, 0} : std::pair<long, long>{first, last + 1};
  }
  std::vector<long> kept_by_row(long q_len, long kv_len) const {
    std::vector<long> r;
    for (long q = 0; q < q_len; ++q) r.push_back(analysis.count_kept({0, 1, 0, 1, q, q + 1, 0, kv_len}));
    return r;
  }
};

using Keys = std::pair<long, long>;

}  // namespace

TEST_CASE("A window of w keeps the current key and the w - 1 before it", "[passes][predicate][cases]") {
  const Masked window(zoo::causal && q_index - kv_index < 4);
  CHECK(window.kept_by_row(8, 8) == std::vector<long>{1, 2, 3, 4, 4, 4, 4, 4});
  CHECK(window.keys(0, 8) == Keys{0, 1});
  CHECK(window.keys(3, 8) == Keys{0, 4});
  CHECK(window.keys(7, 8) == Keys{4, 8});
  CHECK(kept_pairs(window.analysis, 1, 1, 8, 8) == 26);
  CHECK(rows_without_any(window.analysis, 8, 8).empty());

  const Masked alone(zoo::causal && q_index - kv_index < 1);
  CHECK(alone.keys(5, 8) == Keys{5, 6});
  CHECK(kept_pairs(alone.analysis, 1, 1, 8, 8) == 8);
}

TEST_CASE("A window of 0 tokens keeps nothing and has no runs", "[passes][predicate][cases]") {
  const Masked window(zoo::causal && q_index - kv_index < 0);
  CHECK(kept_pairs(window.analysis, 1, 1, 9, 9) == 0);
  CHECK(block_map(window.analysis, 9, 9, 4, 4).rows == std::vector<std::vector<Run>>(3));
  std::vector<int> every(9);
  std::iota(every.begin(), every.end(), 0);
  CHECK(rows_without_any(window.analysis, 9, 9) == every);
}

TEST_CASE("The corner of a causal mask with Tq != Tkv is where the spec puts it", "[passes][predicate][cases]") {
  const Masked top_left(zoo::causal), bottom_right(kv_index <= q_index + (6 - 2));
  CHECK(top_left.kept_by_row(2, 6) == std::vector<long>{1, 2});
  CHECK(bottom_right.kept_by_row(2, 6) == std::vector<long>{5, 6});
  CHECK(runs_of(bottom_right.analysis, 0, 2, 6, 2) == std::vector<Run>{{0, 4, Kept::all}, {4, 6, Kept::mixed}});

  const Masked decode(kv_index <= q_index + (9 - 1));  // one query, 8 cached keys and its own
  CHECK(decode.keys(0, 9) == Keys{0, 9});
  CHECK(runs_of(decode.analysis, 0, 1, 9, 4) == std::vector<Run>{{0, 9, Kept::all}});

  const Masked more_rows(kv_index <= q_index + (2 - 6));  // the first four queries stand before every key
  CHECK(more_rows.kept_by_row(6, 2) == std::vector<long>{0, 0, 0, 0, 1, 2});
  CHECK(rows_without_any(more_rows.analysis, 6, 2) == std::vector<int>{0, 1, 2, 3});
  CHECK(top_left.kept_by_row(6, 2) == std::vector<long>{1, 2, 2, 2, 2, 2});
}

TEST_CASE("A window past the end of the keys keeps nothing", "[passes][predicate][cases]") {
  const Masked window(zoo::causal && q_index - kv_index < 3);
  CHECK(window.kept_by_row(8, 4) == std::vector<long>{1, 2, 3, 3, 2, 1, 0, 0});
  CHECK(rows_without_any(window.analysis, 8, 4) == std::vector<int>{6, 7});
}

TEST_CASE("Chunks of a prefill keep what the whole prefill keeps", "[passes][predicate][cases]") {
  const Masked whole(zoo::causal);
  for (auto [start, length] : {std::pair<long, long>{0, 5}, {5, 3}, {8, 8}}) {
    const Masked chunk(kv_index <= q_index + start);
    for (long q = 0; q < length; ++q) {
      CHECK(chunk.keys(q, start + length) == Keys{0, start + q + 1});
      CHECK(whole.keys(start + q, 16) == Keys{0, start + q + 1});
    }
  }
}

TEST_CASE("Odd lengths: the last block is short, not missing", "[passes][predicate][cases]") {
  const Masked causal(zoo::causal);
  CHECK(kept_pairs(causal.analysis, 1, 1, 1025, 1025) == 1025 * 1026 / 2);
  const BlockMap m = block_map(causal.analysis, 1025, 1025, 64, 64);
  REQUIRE(m.rows.size() == 17);
  CHECK(m.rows[0] == std::vector<Run>{{0, 64, Kept::mixed}});
  CHECK(m.rows[15] == std::vector<Run>{{0, 960, Kept::all}, {960, 1024, Kept::mixed}});
  CHECK(m.rows[16] == std::vector<Run>{{0, 1025, Kept::all}});  // one row: it keeps all keys

  CHECK(kept_pairs(causal.analysis, 1, 1, 137, 300) == 137 * 138 / 2);
  CHECK(block_map(causal.analysis, 137, 300, 64, 64).rows[2] == std::vector<Run>{{0, 128, Kept::all}, {128, 192, Kept::mixed}});

  // Blocks of a power of two on a length that isn't one: the runs' ends are affine in the block.
  std::vector<long> ends;
  for (const auto& runs : m.rows) ends.push_back(runs.back().end);
  const Affine end = fit_affine(ends, 1025);
  CHECK(end.exact);
  CHECK(end.step == 64);
  CHECK(end.offset == 64);
}

TEST_CASE("Each sequence of a batch keeps its own padding out", "[passes][predicate][cases]") {
  const Masked left(zoo::causal && kv_index >= 7 * batch_index, 2);
  CHECK(left.keys(10, 33, 0) == Keys{0, 11});
  CHECK(left.keys(10, 33, 1) == Keys{7, 11});
  CHECK(left.keys(6, 33, 1) == Keys{0, 0});
  CHECK(rows_without_any(left.analysis, 33, 33) == std::vector<int>{0, 1, 2, 3, 4, 5, 6});
  CHECK(kept_pairs(left.analysis, 2, 1, 33, 33) == 33 * 34 / 2 + 26 * 27 / 2);
}

TEST_CASE("Sinks before a window leave a hole that no run covers", "[passes][predicate][cases]") {
  const Masked sinks(zoo::causal && (q_index - kv_index < 128 || kv_index < 4));
  CHECK(runs_of(sinks.analysis, 512, 576, 1024, 64) == std::vector<Run>{{0, 64, Kept::mixed}, {384, 448, Kept::mixed}, {448, 512, Kept::all}, {512, 576, Kept::mixed}});
  CHECK(kept_pairs(sinks.analysis, 1, 1, 1024, 1024) == 128 * 129 / 2 + 896 * 128 + (1 + 2 + 3) + 893 * 4);
}
