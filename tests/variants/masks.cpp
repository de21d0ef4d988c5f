// What is computed of each mask: exactly the blocks in which some pair counts, and those that keep
// all their pairs test none. Pairs are counted one by one, by the mask said without the language.
#include <catch2/catch.hpp>

#include "isa/isa.h"
#include "passes/fuse.h"
#include "schedule/plan.h"
#include "variants/list.h"

using namespace attune;

namespace {

Kept kept_of(const numerics::Keep& keep, const Stream& s, long q0, long q1, long kv0, long kv1) {
  bool some = false, all = true;
  for (long b = 0; b < s.outer0; ++b)
    for (long h = 0; h < s.outer1; ++h)
      for (long i = q0; i < q1; ++i)
        for (long j = kv0; j < kv1; ++j) (keep(b, h, i, j) ? some : all) = keep(b, h, i, j);
  return !some ? Kept::none : all ? Kept::all
                                  : Kept::mixed;
}

// The runs that the plan's i-th block of `r` visits.
std::vector<Run> visited(const RowBlocks& r, long i, long cols) {
  const RunPlan& p = r.runs;
  std::vector<Run> runs;
  const auto add = [&](long begin, long end, bool whole) { if (begin < end) runs.push_back({begin, end, whole ? Kept::all : Kept::mixed}); };
  if (p.form == RunPlan::Form::whole) add(0, cols, true);
  if (p.form == RunPlan::Form::edges)
    for (int e = 0; e < 3; ++e) add(p.edges[e](i), p.edges[e + 1](i), e == 1);
  if (p.form == RunPlan::Form::table)
    for (long u = p.first[std::size_t(i)]; u < p.first[std::size_t(i) + 1]; ++u) add(p.begin[std::size_t(u)], p.end[std::size_t(u)], p.whole[std::size_t(u)] != 0);
  return runs;
}

Kept plan_of(const std::vector<Run>& runs, long kv) {
  for (const Run& r : runs)
    if (r.begin <= kv && kv < r.end) return r.kept;
  return Kept::none;
}

}  // namespace

TEST_CASE("Kernels visit exactly the tiles in which a mask keeps something", "[variants]") {
  for (const variants::Variant& v : variants::masks()) {
    const Program p = fuse(v.large.graph);
    REQUIRE(p.regions.size() == 1);
    const Stream& s = std::get<Stream>(p.regions[0].work);
    for (const std::string& name : isa_names()) {
      INFO(v.large.name << " on " << name);
      const StreamPlan plan = std::get<StreamPlan>(schedule(p, isa(name)).regions[0]);
      long row = 0, wrong = 0, tiles = 0;
      for (const RowBlocks& r : plan.blocks)
        for (long i = 0; i < r.count; ++i, row += r.rows) {
          const std::vector<Run> runs = visited(r, i, s.cols);
          for (long kv = 0; kv < s.cols; kv += r.tile.rows, ++tiles) wrong += plan_of(runs, kv) != kept_of(v.keep, s, row, std::min(row + r.rows, s.rows), kv, std::min(kv + r.tile.rows, s.cols));
        }
      CHECK(row >= s.rows);
      CHECK(tiles > 0);
      CHECK(wrong == 0);
    }
  }
}

TEST_CASE("The share of computed blocks that explain prints is the exact one", "[variants]") {
  for (const variants::Variant& v : variants::masks()) {
    const Program p = fuse(v.large.graph);
    const Stream& s = std::get<Stream>(p.regions[0].work);
    const IndexAnalysis keep(*s.keep->graph, s.keep->node, s.outer0, s.outer1);
    INFO(v.large.name);
    for (const auto& [rows, cols] : {std::pair{8l, 8l}, {3l, 16l}, {48l, 7l}}) {
      long computed = 0, whole = 0, wanted = 0, wanted_whole = 0;
      for (const auto& runs : block_map(keep, s.rows, s.cols, rows, cols).rows)
        for (const Run& r : runs) (r.kept == Kept::all ? whole : computed) += (r.end - r.begin + cols - 1) / cols;
      for (long q = 0; q < s.rows; q += rows)
        for (long kv = 0; kv < s.cols; kv += cols) {
          const Kept k = kept_of(v.keep, s, q, std::min(q + rows, s.rows), kv, std::min(kv + cols, s.cols));
          wanted += k == Kept::mixed;
          wanted_whole += k == Kept::all;
        }
      CHECK(computed == wanted);
      CHECK(whole == wanted_whole);
    }
    long pairs = 0;
    for (long b = 0; b < s.outer0; ++b)
      for (long h = 0; h < s.outer1; ++h)
        for (long i = 0; i < s.rows; ++i)
          for (long j = 0; j < s.cols; ++j) pairs += v.keep(b, h, i, j);
    CHECK(kept_pairs(keep, s.outer0, s.outer1, s.rows, s.cols) == pairs);
  }
}
