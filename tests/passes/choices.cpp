// What may be decided about a kernel, and the order in which the model ranks it.
#include <catch2/catch.hpp>
#include <set>

#include "bench/verdict.h"
#include "lower.h"
#include "passes/fuse.h"
#include "schedule/plan.h"
#include "zoo/textbook.h"
#include "zoo/zoo.h"

using namespace attune;

namespace {

constexpr auto causal_sdpa = zoo::sdpa<1, 8, 512, 64, true>;

}  // namespace

TEST_CASE("Choices follow from registers and lanes, the cheapest first but for a hundredth") {
  const Graph g = graph_of(causal_sdpa);
  for (const std::string isa : {"portable", "avx2", "avx512"}) {
    const int registers = isa == "avx512" ? 32 : 16;
    const std::vector<Decision> all = decisions(g, isa);
    REQUIRE(all.size() == 1);
    CHECK(all[0].title == "attention");
    REQUIRE(all[0].ranked.size() >= 100);
    double before = 0;
    CHECK(all[0].ranked[0].cycles <= 1.01 * all[0].ranked[1].cycles);
    std::set<std::string> seen;
    for (const Ranked& r : all[0].ranked) {
      const StreamChoice& c = std::get<StreamChoice>(r.choice);
      for (const Tile& t : {c.scores, c.values}) CHECK(t.rows * t.vectors + std::min(t.rows, t.vectors) < registers);
      CHECK(c.column_block % c.scores.rows == 0);
      if (&r != &all[0].ranked[0]) {
        CHECK(r.cycles >= before);
        before = r.cycles;
      }
      CHECK(seen.insert(text_of(r.choice)).second);
    }
  }
}

TEST_CASE("A given choice is what is generated unless it is not legal") {
  const Graph g = graph_of(causal_sdpa);
  const std::vector<Decision> all = decisions(g, "avx2");
  GenerateOptions o;
  o.name = std::string("k");
  o.isas = {"avx2"};
  const auto text = [&] { return generate(g, o).back().text; };
  const std::string usual = text();
  o.schedules["avx2"] = {all[0].ranked[0].choice};
  CHECK(text() == usual);
  o.schedules["avx2"] = {StreamChoice{{6, 2}, {3, 4}, 48}};
  CHECK(text().find("weights_6x16") != std::string::npos);
  CHECK(text().find("48 at a time") != std::string::npos);
  o.schedules["avx2"] = {StreamChoice{{6, 3}, {3, 4}, 48}};
  CHECK_THROWS_AS(text(), Error);
  o.schedules["avx2"] = {ContractChoice{{6, 2}}};
  CHECK_THROWS_AS(text(), Error);
}

TEST_CASE("Graphs that compute the same have one hash") {
  CHECK(graph_hash(graph_of(causal_sdpa)) == graph_hash(graph_of(causal_sdpa)));
  CHECK(graph_hash(graph_of(causal_sdpa)) != graph_hash(graph_of(zoo::sdpa<1, 8, 512, 64, false>)));
  CHECK(graph_hash(graph_of(causal_sdpa)).size() == 16);
}

// Values from Spearman's formula 1 - 6 sum d^2 / (n (n^2 - 1)), by hand.
TEST_CASE("Rank correlation") {
  using bench::rank_correlation;
  CHECK(rank_correlation({1, 2, 3, 4}, {10, 20, 30, 40}) == Approx(1));
  CHECK(rank_correlation({1, 2, 3, 4}, {4, 3, 2, 1}) == Approx(-1));
  CHECK(rank_correlation({1, 2, 3, 4, 5}, {2, 1, 4, 3, 5}) == Approx(0.8));
  CHECK(rank_correlation({1, 1, 2, 2}, {1, 1, 2, 2}) == Approx(1));  // ties share a rank
  CHECK(rank_correlation({1, 2, 3}, {7, 7, 7}) == 0);                // nothing to order
}

TEST_CASE("A verdict judges the order of schedules only where they differ") {
  const auto verdict = [](double loss, double spread, double correlation) {
    bench::Verdict v;
    v.loss = loss;
    v.spread = spread;
    v.correlation = correlation;
    return v;
  };
  CHECK(verdict(0.08, 1.3, 0.7).ok());
  CHECK(!verdict(0.081, 1.3, 0.7).ok());
  CHECK(!verdict(0.01, 1.3, 0.69).ok());
  CHECK((verdict(0.01, 1.29, 0.1).ok() && !verdict(0.01, 1.29, 0.1).wide()));
  CHECK(!verdict(0.09, 1.1, 0.9).ok());
}

namespace {

// By the model's first choice and by every one that is legal: blocks follow each other to the last row.
template <long Rows, bool Causal>
void check_blocks() {
  const Graph g = graph_of(zoo::sdpa<1, 2, Rows, 32, Causal>);
  const Program p = fuse(g);
  for (const std::string name : {"portable", "avx2", "avx512"}) {
    const Isa& target = isa(name);
    const std::vector<Decision> all = decisions(g, name);
    for (const Ranked& choice : all.at(0).ranked) {
      CAPTURE(Rows, Causal, name, text_of(choice.choice));
      const Schedule s = schedule(p, target, {choice.choice});
      long row = 0, block = 0;
      for (const RowBlocks& b : std::get<StreamPlan>(s.regions.at(0)).blocks) {
        CHECK(b.first_row == row);
        CHECK(b.first == block);
        CHECK(b.count >= 1);
        CHECK(b.rows > (b.tile.vectors - 1) * target.lanes);
        CHECK(b.rows <= b.tile.vectors * target.lanes);
        row += b.count * b.rows;
        block += b.count;
      }
      CHECK(row == Rows);
    }
  }
}

}  // namespace

TEST_CASE("Blocks of rows follow each other to the last row") {
  check_blocks<1, false>();
  check_blocks<8, true>();
  check_blocks<29, true>();
  check_blocks<77, true>();
  check_blocks<137, false>();
}

TEST_CASE("No block of a single vector stands behind higher ones where two could share its rows") {
  const Program p = fuse(graph_of(causal_sdpa));  // 512 = 21 * 24 + 8
  const Schedule s = schedule(p, isa("avx2"));
  for (const RowBlocks& b : std::get<StreamPlan>(s.regions.at(0)).blocks) CHECK(b.tile.vectors > 1);
}
