// From a choice to a plan, and what the plan costs by the model; one planner a region.
#pragma once
#include <array>
#include <map>
#include <optional>

#include "schedule/account.h"
#include "schedule/choice.h"
#include "schedule/plan.h"

namespace attune {

// So many items that several workers end at nearly the same time, if none has fewer tiles than these.
inline constexpr long items_wanted = 64, tiles_of_an_item = 4;

class ContractPlanner {
 public:
  ContractPlanner(const Contract& c, const Isa& isa) : c_(c), isa_(isa) {}
  std::vector<ContractChoice> choices() const;
  ContractPlan plan(const ContractChoice&) const;
  Account account(const ContractChoice&) const;

 private:
  const Contract& c_;
  const Isa& isa_;
  bool legal(Tile) const;
  long vectors(const Segment&) const;
  Account panel(Tile, long slots) const;
  Account finish(const Segment&) const;
  long weight_bytes() const;
  bool beyond_l2() const;
  bool asks_next_panel(Tile) const;
  bool asks_further_on(Tile) const;
};

class StreamPlanner {
 public:
  StreamPlanner(const Stream&, const Isa&);
  std::vector<StreamChoice> choices();
  StreamPlan plan(const StreamChoice&);
  Account account(const StreamChoice&);  // stream_account.cpp

 private:
  const Stream& s_;
  const Isa& isa_;
  std::optional<IndexAnalysis> keep_;
  StreamPlan hull_;                        // the hull of its rows, and nothing else

  // Blocks of one height and tile, and what their code visits.
  struct Covered {
    RowBlocks blocks;
    std::vector<std::vector<Run>> runs;              // of each block
    std::map<std::pair<int, int>, long> whole, part; // tiles of scores by columns and vectors; of which pairs are removed
    std::map<int, std::map<int, long>> value_steps;  // for tiles of at most so many rows: steps over all rows, by a tile's rows
  };
  std::map<std::pair<std::array<long, 3>, std::pair<int, int>>, Covered> covered_;
  Covered& cover(long start, long rows, long count, Tile);
  std::vector<Covered*> blocks(Tile scores);
  bool legal(Tile) const;
  Covered* cheapest(long start, long rows, long count, int columns);
  long column_block(const std::vector<Covered*>&, long wanted) const;
  std::pair<long, long> ends(long row, long rows) const;
  void count_tiles(Covered&) const;
  const std::map<int, long>& value_steps(Covered&, int rows) const;
  Account scores(const Covered&, long columns) const;
  Account values(Covered&, Tile, long columns) const;
  static long seen_by_all(const Covered&);
  long visits(const Covered&, long columns) const;
  long columns_of_visit(const Covered&, long columns) const;
  bool one_visit(const Covered&, long columns) const;
  bool beyond_l2() const;
  bool asks_ahead() const;
  bool asks_next() const;
  void plan_asks(StreamPlan&, const Covered&) const;
};

// Columns of the second product in tiles of at most so many vectors, as evenly as can be.
std::vector<StreamPlan::Group> groups_of(long width, int vectors, int lanes);

// runs.cpp
RunPlan plan_runs(const std::vector<std::vector<Run>>&, long cols);
std::vector<Run> visited(const RunPlan&, long block, long cols);  // of the block-th, as the plan says
void plan_hull(StreamPlan&, const Stream&, const IndexAnalysis& keep, int lanes);

}  // namespace attune
