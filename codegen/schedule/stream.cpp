#include <algorithm>
#include <numeric>

#include "schedule/planners.h"

namespace attune {
namespace {

// Exponential, update and rescale of one vector of scores, in FMA slots; counted from the
// instructions of an exponential of degree 5 and what surrounds it.
constexpr long slots_per_weight = 11;
// Its coefficients stay in registers where the accumulators leave that many free; else each is loaded
// for each vector.
constexpr long coefficients = 6, registers_for_weights = coefficients + 2;

std::vector<StreamPlan::Group> groups_of(long width, int vectors, int lanes) {
  const long total = (width + lanes - 1) / lanes, count = (total + vectors - 1) / vectors;
  std::vector<StreamPlan::Group> r;
  long at = 0;
  for (long i = 0; i < count; ++i) {
    const long n = total / count + (i < total % count);
    const long end = std::min(width, (at + n) * lanes);
    r.push_back({at * lanes, int(n), int(end - (at + n - 1) * lanes)});
    at += n;
  }
  return r;
}

}  // namespace

StreamPlanner::StreamPlanner(const Stream& s, const Isa& isa) : s_(s), isa_(isa) {
  if (s.keep) keep_.emplace(*s.keep->graph, s.keep->node, s.outer0, s.outer1);
}

// Blocks of `rows` rows from row `start` on: as many as there are whole ones, or the rest.
const StreamPlanner::Covered& StreamPlanner::cover(long start, long rows, Tile t) {
  const auto [at, fresh] = covered_.try_emplace({{start, rows}, {t.rows, t.vectors}});
  Covered& c = at->second;
  if (!fresh) return c;
  RowBlocks& b = c.blocks;
  b.rows = rows;
  b.tile = t;
  b.count = (s_.rows - start) / rows;
  std::vector<std::vector<Run>> runs;
  for (long i = 0; i < b.count; ++i) {
    const long r0 = start + i * rows;
    if (keep_) runs.push_back(runs_of(*keep_, r0, r0 + rows, s_.cols, t.rows));
    else if (s_.cols) runs.push_back({{0, s_.cols, Kept::all}});
    else runs.push_back({});
    for (const Run& r : runs.back()) (r.kept == Kept::all ? c.whole : c.part) += (r.end - r.begin + t.rows - 1) / t.rows * t.rows;
  }
  b.runs = plan_runs(runs, s_.cols);
  return c;
}

// The tile of the last block, which has fewer rows than the others: the cheapest of those that meet the
// edges of the others' tiles often enough.
Tile StreamPlanner::last_tile(long start, long rows, int columns) {
  const int vectors = int((rows + isa_.lanes - 1) / isa_.lanes);
  Tile best;
  long least = -1;
  for (const Tile& t : legal_tiles(isa_)) {
    if (t.vectors != vectors || (t.rows > 1 && t.rows > s_.cols) || std::lcm(t.rows, columns) > 24) continue;
    const long c = score_cost(cover(start, rows, t));
    if (least >= 0 && c >= least) continue;
    least = c;
    best = t;
  }
  return best;
}

std::vector<const StreamPlanner::Covered*> StreamPlanner::blocks(Tile scores) {
  std::vector<const Covered*> r;
  const long height = long(scores.vectors) * isa_.lanes, whole = s_.rows / height, left = s_.rows % height;
  if (whole) r.push_back(&cover(0, height, scores));
  if (left) r.push_back(&cover(whole * height, left, last_tile(whole * height, left, scores.rows)));
  return r;
}

// A multiple of every tile's columns, near what is wanted and no more than there are. Powers of two are
// reached, so that lengths that are one leave no small rest.
long StreamPlanner::column_block(const std::vector<const Covered*>& blocks, long wanted) const {
  long step = 1;
  for (const Covered* c : blocks) step = std::lcm(step, long(c->blocks.tile.rows));
  const auto tiles = [&](long columns) { return std::max(1L, (columns + step - 1) / step); };
  return std::min(tiles(wanted), tiles(s_.cols)) * step;
}

StreamPlan StreamPlanner::plan(const StreamChoice& choice) {
  StreamPlan plan;
  const std::vector<const Covered*> covered = blocks(choice.scores);
  long lanes_rows = isa_.lanes, first = 0;
  for (const Covered* c : covered) {
    plan.blocks.push_back(c->blocks);
    plan.blocks.back().first = first;
    first += c->blocks.count;
    lanes_rows = std::max(lanes_rows, long(c->blocks.tile.vectors) * isa_.lanes);
  }
  plan.value_rows = choice.values.rows;
  // Columns and values that L2 loses between two blocks of rows.
  plan.ahead = stride_of(s_.b.dims[3]) == 1 && 4 * s_.cols * (s_.depth + s_.width) > isa_.machine.l2_bytes / 2;
  plan.groups = groups_of(s_.width, choice.values.vectors, isa_.lanes);
  plan.column_block = column_block(covered, choice.column_block);
  if (keep_) {
    plan_hull(plan, s_, *keep_, isa_.lanes);
    plan.rows_without_any = s_.keep->at_run_time || !rows_without_any(*keep_, s_.rows, s_.cols).empty();
  }
  plan.local_floats = aligned_floats(s_.depth * lanes_rows) + (plan.column_block + 7 + s_.width + long(s_.values.size())) * lanes_rows + aligned_floats(plan.column_block + 1);
  return plan;
}

// Scores and weights of all blocks of one kind.
long StreamPlanner::score_cost(const Covered& c) const {
  const Tile t = c.blocks.tile;
  const bool crowded = t.rows * t.vectors + registers_for_weights > isa_.registers;
  const long weigh = t.vectors * (120 * slots_per_weight / isa_.machine.fma_per_cycle + (crowded ? 120 * coefficients / isa_.machine.loads_per_cycle : 0));
  // Rows that crowd the scores out of L1 come from L2 at every step, and do so in sequence; those that
  // L1 can't hold at all do it with every load. The columns always come from L2, and are asked for a
  // float here and a float there.
  const long turned = 4 * s_.depth * t.vectors * isa_.lanes, l1 = isa_.machine.l1_bytes;
  const long missed = turned > l1 * 3 / 8 ? 120 * 4 * t.vectors * isa_.lanes / l2_bytes_per_cycle / (turned > l1 * 7 / 8 ? 4 : l2_hidden) : 0;
  const long column = (s_.depth * (step_cost(t, isa_) + missed) + tile_overhead) / t.rows + 120 * 4 * s_.depth / l2_bytes_per_cycle;
  long column_part = 0;  // vectors that keep nothing are left out: on a diagonal, as many tiles of each width
  for (int v = 1; v <= t.vectors; ++v) column_part += (s_.depth * step_cost({t.rows, v}, isa_) + tile_overhead) / t.rows / t.vectors;
  const long turning = 3 * 120 * s_.depth * t.vectors;  // rows onto lanes
  return c.whole * (column + weigh) + c.part * (column_part + weigh) + c.blocks.count * turning;
}

// One step of the second product over all groups of columns. A group whose values L1 doesn't hold
// beside the scores comes from L2 once per tile of rows; most of that hides behind the arithmetic.
long StreamPlanner::value_cost(long rows, Tile t, long columns) const {
  long cost = 0;
  for (const auto& g : groups_of(s_.width, t.vectors, isa_.lanes)) {
    const bool resident = 4 * columns * g.vectors * isa_.lanes <= isa_.machine.l1_bytes / 2;
    const long tiles = (rows + t.rows - 1) / t.rows;
    const long entering = tiles * tile_overhead + 120 * 8 * rows * g.vectors * isa_.lanes / l2_bytes_per_cycle;  // and leaving: the results come from L2 and go there
    cost += cover_cost(rows, {t.rows, g.vectors}, isa_) + entering / std::max(1L, columns) + (resident ? 1 : tiles) * 120 * 4 * g.vectors * isa_.lanes / l2_bytes_per_cycle / l2_hidden;
  }
  return cost;
}

long StreamPlanner::cost(const StreamChoice& choice) {
  const std::vector<const Covered*> covered = blocks(choice.scores);
  const long columns = std::min(s_.cols, column_block(covered, choice.column_block));
  long cost = 0;
  for (const Covered* c : covered) {
    // Scores that L1 doesn't hold beside the rows and the values are written to L2 and read from it; most
    // of that hides behind the arithmetic.
    const long scores = 4 * columns * c->blocks.tile.vectors * isa_.lanes;
    const long spilled = scores > isa_.machine.l1_bytes * 5 / 8 ? 120 * 8 * c->blocks.tile.vectors * isa_.lanes / l2_bytes_per_cycle / l2_hidden : 0;
    cost += score_cost(*c) + (c->whole + c->part) * (value_cost(c->blocks.rows, choice.values, columns) + spilled);
  }
  return cost;
}

std::vector<StreamChoice> StreamPlanner::choices() {
  std::vector<StreamChoice> r;
  const int needed = int(std::max(1L, (s_.rows + isa_.lanes - 1) / isa_.lanes));
  const int wide = int(std::max(1L, (s_.width + isa_.lanes - 1) / isa_.lanes));
  std::vector<Tile> scores, values;
  for (const Tile& t : legal_tiles(isa_)) {
    if (t.vectors <= needed && (t.rows == 1 || t.rows <= s_.cols)) scores.push_back(t);
    if (t.vectors <= wide && (t.rows == 1 || t.rows <= s_.rows)) values.push_back(t);
  }
  for (std::vector<Tile>* list : {&scores, &values}) {  // tiles that leave most registers idle serve nobody
    int most = 0;
    for (const Tile& t : *list) most = std::max(most, t.rows * t.vectors);
    std::erase_if(*list, [&](const Tile& t) { return 2 * t.rows * t.vectors < most; });
  }
  for (const Tile& t : scores) {
    const std::vector<const Covered*> covered = blocks(t);
    long before = 0;
    for (const long wanted : {48L, 64L, 96L, 128L, 192L, 256L}) {
      const long columns = column_block(covered, wanted);
      if (columns == before) continue;
      before = columns;
      for (const Tile& v : values)
        if (v.rows <= std::max(1L, long(t.vectors) * isa_.lanes)) r.push_back({t, v, columns});
    }
  }
  return r;
}

}  // namespace attune
