#include <algorithm>

#include "schedule/plan.h"

namespace attune {
namespace {

// Exponential, update and rescale of one vector of scores, in FMA slots; counted from the
// instructions of an exponential of degree 5 and what surrounds it.
constexpr long slots_per_weight = 12;
constexpr long l2_bytes_per_cycle = 64;
// Entering and leaving a tile, in 1/120 of a cycle.
constexpr long tile_overhead = 30 * 120;
// Tables in the text are bounded: beyond this many bytes a block visits all columns.
constexpr std::size_t table_entries = 4096 / sizeof(short);

// The runs of one block as edges of (in part, whole, in part), if they are such a sequence.
bool edges_of(const std::vector<Run>& runs, long (&e)[4]) {
  std::vector<Run> r = runs;
  for (std::size_t i = 1; i < r.size(); ++i)
    if (r[i].begin != r[i - 1].end) return false;
  std::size_t whole = 0;
  while (whole < r.size() && r[whole].kept != Kept::all) ++whole;
  if (r.empty()) {
    std::fill(e, e + 4, 0L);
    return true;
  }
  if (whole > 1 || r.size() - whole > 2) return false;
  const long end = r.back().end;
  if (whole == r.size()) {  // nothing whole: what there is stands at the end, as on a diagonal
    e[0] = e[1] = e[2] = r[0].begin;
    e[3] = end;
    return r.size() == 1;
  }
  e[0] = r[0].begin;
  e[1] = r[whole].begin;
  e[2] = r[whole].end;
  e[3] = end;
  return true;
}

RunPlan plan_runs(const std::vector<std::vector<Run>>& rows, long cols) {
  RunPlan plan;
  plan.some_empty = std::any_of(rows.begin(), rows.end(), [](const auto& r) { return r.empty(); });
  const bool all = std::all_of(rows.begin(), rows.end(), [&](const auto& r) { return r.size() == 1 && r[0] == Run{0, cols, Kept::all}; });
  if (all) return plan;
  std::vector<long> edge[4];
  bool affine = true;
  for (const auto& r : rows) {
    long e[4];
    affine = affine && edges_of(r, e);
    for (int i = 0; affine && i < 4; ++i) edge[i].push_back(e[i]);
  }
  for (int i = 0; affine && i < 4; ++i) {
    plan.edges[i] = fit_affine(edge[i], cols);
    affine = plan.edges[i].exact;
  }
  plan.form = affine ? RunPlan::Form::affine : RunPlan::Form::table;
  if (affine) return plan;
  for (const auto& r : rows) {
    plan.first.push_back(long(plan.begin.size()));
    for (const Run& run : r) {
      plan.begin.push_back(run.begin);
      plan.end.push_back(run.end);
      plan.whole.push_back(run.kept == Kept::all);
    }
  }
  plan.first.push_back(long(plan.begin.size()));
  if (plan.first.size() + 3 * plan.begin.size() > table_entries) {
    plan.form = RunPlan::Form::affine;  // everything is visited, in part
    for (int i = 0; i < 4; ++i) plan.edges[i] = {0, i < 3 ? 0 : cols, cols, true};
  }
  return plan;
}

void plan_hull(StreamPlan& plan, const Stream& s, const IndexAnalysis& keep, int lanes) {
  std::vector<long> low, high;
  for (long r = 0; r < s.rows; r += lanes) {
    const Block b{0, s.outer0, 0, s.outer1, r, std::min(r + lanes, s.rows), 0, s.cols};
    const long last = keep.last_kept(b);
    low.push_back(last < 0 ? 0 : keep.first_kept(b));
    high.push_back(last + 1);
  }
  plan.low = fit_affine(low, s.cols);
  plan.high = fit_affine(high, s.cols);
  if (2 * low.size() > table_entries) return;
  plan.hull = true;
  if (!plan.low.exact) plan.low_table = low;
  if (!plan.high.exact) plan.high_table = high;
}

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

struct Candidate {
  long cost = 0;
  StreamPlan plan;
};

class Planner {
 public:
  Planner(const Stream& s, const Isa& isa) : s_(s), isa_(isa) {
    if (s.keep) keep_.emplace(*s.keep->graph, s.keep->node, s.outer0, s.outer1);
  }

  // The best plan with blocks of this many row vectors.
  Candidate with(int vectors) const {
    Candidate c;
    const long block = long(vectors) * isa_.lanes;
    const long whole = s_.rows / block, left = s_.rows % block;
    if (whole) add(c, 0, whole, block, vectors);
    if (left) add(c, whole, 1, left, int((left + isa_.lanes - 1) / isa_.lanes));
    return c;
  }

  const std::optional<IndexAnalysis>& keep() const { return keep_; }

 private:
  const Stream& s_;
  const Isa& isa_;
  std::optional<IndexAnalysis> keep_;

  // Tiles whose column costs little more than the cheapest one's; their height decides how well the
  // edges of runs are met.
  std::vector<Tile> tiles(int vectors) const {
    const auto column = [&](Tile t) { return step_cost(t, isa_) / t.rows; };
    std::vector<Tile> all;
    long least = 0;
    for (const Tile& t : legal_tiles(isa_)) {
      if (t.vectors != vectors || (t.rows > 1 && t.rows > s_.cols)) continue;
      all.push_back(t);
      if (!least || column(t) < least) least = column(t);
    }
    std::erase_if(all, [&](Tile t) { return column(t) > least + least / 8; });
    return all;
  }

  // Adds `count` blocks of `rows` rows, under the tile that makes them cheapest.
  void add(Candidate& c, long first, long count, long rows, int vectors) const {
    const long start = first * (c.plan.blocks.empty() ? rows : c.plan.blocks[0].rows);
    RowBlocks best;
    long best_cost = -1;
    for (const Tile& t : tiles(vectors)) {
      RowBlocks b;
      b.rows = rows;
      b.first = first;
      b.count = count;
      b.tile = t;
      std::vector<std::vector<Run>> runs;
      long total = 0;
      for (long i = 0; i < count; ++i) {
        const long r0 = start + i * rows;
        if (keep_) runs.push_back(runs_of(*keep_, r0, std::min(r0 + rows, s_.rows), s_.cols, t.rows));
        else if (s_.cols) runs.push_back({{0, s_.cols, Kept::all}});
        else runs.push_back({});
        long whole = 0, part = 0;
        for (const Run& r : runs.back()) (r.kept == Kept::all ? whole : part) += (r.end - r.begin + t.rows - 1) / t.rows * t.rows;
        total += cost(b, whole, part);
      }
      if (best_cost >= 0 && total >= best_cost) continue;
      b.runs = plan_runs(runs, s_.cols);
      best = b;
      best_cost = total;
    }
    c.cost += best_cost;
    c.plan.blocks.push_back(best);
  }

  long cost(const RowBlocks& b, long whole, long part) const {
    const long weigh = 120 * slots_per_weight * b.tile.vectors / isa_.machine.fma_per_cycle;
    // Rows that crowd the scores out of L1 come from L2 at every step.
    const long turned = 4 * s_.depth * b.tile.vectors * isa_.lanes;
    const long missed = turned > isa_.machine.l1_bytes * 3 / 8 ? 120 * 4 * b.tile.vectors * isa_.lanes / l2_bytes_per_cycle : 0;
    const long column = (s_.depth * (step_cost(b.tile, isa_) + missed) + tile_overhead) / b.tile.rows;
    long column_part = 0;  // vectors that keep nothing are left out: on a diagonal, as many tiles of each width
    for (int v = 1; v <= b.tile.vectors; ++v) column_part += (s_.depth * step_cost({b.tile.rows, v}, isa_) + tile_overhead) / b.tile.rows / b.tile.vectors;
    const long turning = 3 * 120 * s_.depth * b.tile.vectors;  // rows onto lanes
    const Tile tile = value_tile(b.rows);
    const long values = values_cost(b.rows, tile);
    return whole * (column + weigh + values) + part * (column_part + weigh + values) + turning;
  }

  // One step of the second product over all groups of columns. A group whose values L1 doesn't hold
  // beside the scores comes from L2 once per tile of rows.
  long values_cost(long rows, Tile t) const {
    const long columns = std::min(s_.cols, column_block(rows));
    long cost = 0;
    for (const auto& g : groups_of(s_.width, t.vectors, isa_.lanes)) {
      const bool resident = 4 * columns * g.vectors * isa_.lanes <= isa_.machine.l1_bytes / 2;
      const long tiles = (rows + t.rows - 1) / t.rows;
      cost += cover_cost(rows, {t.rows, g.vectors}, isa_) + tiles * tile_overhead / std::max(1L, columns) + (resident ? 1 : tiles) * 120 * 4 * g.vectors * isa_.lanes / l2_bytes_per_cycle;
    }
    return cost;
  }

 public:
  // Half of L1 for the scores of a block of columns: the rows and the values want the rest.
  long column_block(long rows) const { return std::min(256L, isa_.machine.l1_bytes / 2 / long(sizeof(float)) / ((rows + isa_.lanes - 1) / isa_.lanes * isa_.lanes)); }

  Tile value_tile(long rows) const {
    Tile best;
    long least = 0;
    for (const Tile& t : legal_tiles(isa_)) {
      const long cost = values_cost(rows, t);
      if (least && (cost > least || (cost == least && t.rows * t.vectors < best.rows * best.vectors))) continue;  // the larger of equals
      least = cost;
      best = t;
    }
    return best;
  }
};

}  // namespace

StreamPlan plan_stream(const Stream& s, const Isa& isa) {
  const Planner planner(s, isa);
  Candidate best;
  const int needed = int(std::max(1L, (s.rows + isa.lanes - 1) / isa.lanes));
  for (int vectors = 1; vectors <= std::min(6, needed); ++vectors) {
    if (!fits({vectors, 1}, isa)) break;
    Candidate c = planner.with(vectors);
    if (best.plan.blocks.empty() || c.cost < best.cost) best = std::move(c);
  }
  StreamPlan plan = std::move(best.plan);
  const long lanes_rows = plan.blocks.empty() ? isa.lanes : long(plan.blocks[0].tile.vectors) * isa.lanes;
  const Tile values = planner.value_tile(plan.blocks.empty() ? 1 : plan.blocks[0].rows);
  plan.value_rows = values.rows;
  plan.groups = groups_of(s.width, values.vectors, isa.lanes);
  if (planner.keep()) plan_hull(plan, s, *planner.keep(), isa.lanes);
  long step = 1;
  for (const RowBlocks& b : plan.blocks) step = step / std::__gcd(step, long(b.tile.rows)) * b.tile.rows;
  plan.column_block = std::max(step, planner.column_block(lanes_rows) / step * step);
  plan.column_block = std::min(plan.column_block, std::max(1L, (s.cols + step - 1) / step * step));
  plan.local_floats = aligned_floats(s.depth * lanes_rows) + plan.column_block * lanes_rows + 6 * lanes_rows;
  return plan;
}

}  // namespace attune
