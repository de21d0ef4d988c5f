// From a choice to a plan, and what the plan costs by the model; one planner a region.
#pragma once
#include <map>
#include <optional>

#include "schedule/choice.h"
#include "schedule/plan.h"

namespace attune {

// Entering and leaving a tile, in 1/120 of a cycle.
inline constexpr long tile_overhead = 30 * 120;
// What the second level of cache gives, in bytes a cycle.
inline constexpr long l2_bytes_per_cycle = 64;
// Of the time that a stream's reads from there take, one part in so many is not hidden behind arithmetic;
// of the panels of a product, which are longer than a block of columns, more.
inline constexpr long l2_hidden = 16, l2_hidden_of_panels = 4;
// What one core reads from beyond L2, in bytes a cycle: in sequence, where L2 runs ahead by itself, and
// where it is asked, since L1 waits for some 16 lines at a time.
inline constexpr long memory_bytes_per_cycle = 8, asked_bytes_per_cycle = 3;

// So many items that several workers end at nearly the same time, if none has fewer tiles than these.
inline constexpr long items_wanted = 64, tiles_of_an_item = 4;

class ContractPlanner {
 public:
  ContractPlanner(const Contract& c, const Isa& isa) : c_(c), isa_(isa) {}
  std::vector<ContractChoice> choices() const;
  ContractPlan plan(const ContractChoice&) const;
  long cost(const ContractChoice&) const;  // 1/120 of a cycle

 private:
  const Contract& c_;
  const Isa& isa_;
  bool legal(Tile) const;
  long vectors(const Segment&) const;
  long panel_cost(Tile) const;
  bool beyond_l2() const;
  bool asks_ahead(Tile) const;
};

class StreamPlanner {
 public:
  StreamPlanner(const Stream&, const Isa&);
  std::vector<StreamChoice> choices();
  StreamPlan plan(const StreamChoice&);
  long cost(const StreamChoice&);  // 1/120 of a cycle

 private:
  const Stream& s_;
  const Isa& isa_;
  std::optional<IndexAnalysis> keep_;

  // Blocks of one height and tile, with the columns that they visit: whole tiles, and those of which
  // pairs are removed; over all blocks.
  struct Covered {
    RowBlocks blocks;
    long whole = 0, part = 0;
  };
  std::map<std::pair<std::pair<long, long>, std::pair<int, int>>, Covered> covered_;
  const Covered& cover(long start, long rows, Tile);
  std::vector<const Covered*> blocks(Tile scores);
  Tile last_tile(long start, long rows, int columns);
  long column_block(const std::vector<const Covered*>&, long wanted) const;
  long score_cost(const Covered&) const;
  long value_cost(long rows, Tile, long columns) const;
};

// runs.cpp
RunPlan plan_runs(const std::vector<std::vector<Run>>&, long cols);
void plan_hull(StreamPlan&, const Stream&, const IndexAnalysis& keep, int lanes);

}  // namespace attune
