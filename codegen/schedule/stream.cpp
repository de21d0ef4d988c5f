#include <algorithm>
#include <numeric>

#include "schedule/planners.h"

namespace attune {

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

StreamPlanner::StreamPlanner(const Stream& s, const Isa& isa) : s_(s), isa_(isa) {
  if (!s.keep) return;
  keep_.emplace(*s.keep->graph, s.keep->node, s.outer0, s.outer1);
  plan_hull(hull_, s, *keep_, isa.lanes);
}

// `count` blocks of `rows` rows from row `start` on.
StreamPlanner::Covered& StreamPlanner::cover(long start, long rows, long count, Tile t) {
  const auto [at, fresh] = covered_.try_emplace({{start, rows, count}, {t.rows, t.vectors}});
  Covered& c = at->second;
  if (!fresh) return c;
  RowBlocks& b = c.blocks;
  b.rows = rows;
  b.tile = t;
  b.count = count;
  b.first_row = start;
  std::vector<std::vector<Run>> runs;
  for (long i = 0; i < b.count; ++i) {
    const long r0 = start + i * rows;
    if (keep_) runs.push_back(runs_of(*keep_, r0, r0 + rows, s_.cols, t.rows));
    else if (s_.cols) runs.push_back({{0, s_.cols, Kept::all}});
    else runs.push_back({});
  }
  b.runs = plan_runs(runs, s_.cols);
  count_tiles(c);
  return c;
}

// Of scores. Where two steps are mixed, what both hold must find registers: else GCC moves accumulators out.
bool StreamPlanner::legal(Tile t) const {
  const bool mixes = body(t) > long_body && t.rows * t.vectors + 2 * std::min(t.rows, t.vectors) > isa_.registers;
  return (t.rows == 1 || t.rows <= s_.cols) && !mixes;
}

// Of the tiles that meet the edges of the other blocks' tiles often enough, the cheapest; null if there is none.
StreamPlanner::Covered* StreamPlanner::cheapest(long start, long rows, long count, int columns) {
  const int vectors = int((rows + isa_.lanes - 1) / isa_.lanes);
  Covered* best = nullptr;
  for (const Tile& t : legal_tiles(isa_)) {
    if (t.vectors != vectors || !legal(t) || std::lcm(t.rows, columns) > 24) continue;
    Covered& c = cover(start, rows, count, t);
    if (!best || scores(c, s_.cols).total() < scores(*best, s_.cols).total()) best = &c;
  }
  return best;
}

// Blocks of as many rows as a tile of scores has, and a lower one for what is left. One of a single vector costs
// more than its share: a higher one, or two, may take its rows and those of the block before. None if the tile
// goes with no other.
std::vector<StreamPlanner::Covered*> StreamPlanner::blocks(Tile tile) {
  const long height = long(tile.vectors) * isa_.lanes, whole = s_.rows / height, left = s_.rows % height;
  std::vector<Covered*> best;
  long least = 0;
  const auto consider = [&](long before, const std::vector<long>& heights) {
    std::vector<Covered*> r;
    if (before) r.push_back(&cover(0, height, before, tile));
    long row = before * height;
    for (std::size_t i = 0; i < heights.size(); row += heights[i++]) {
      if (i > 0 && heights[i] == heights[i - 1]) continue;
      r.push_back(cheapest(row, heights[i], std::count(heights.begin(), heights.end(), heights[i]), tile.rows));
      if (!r.back()) return;
    }
    long cost = 0;
    for (const Covered* c : r) cost += scores(*c, s_.cols).total();
    if (!best.empty() && cost >= least) return;
    best = r;
    least = cost;
  };
  if (left == 0) {
    consider(whole, {});
    return best;
  }
  consider(whole, {left});
  if (whole == 0 || left > isa_.lanes) return best;
  const long rows = height + left, half = (rows + 2 * isa_.lanes - 1) / (2 * isa_.lanes) * isa_.lanes;
  consider(whole - 1, {rows});
  if (half < height) consider(whole - 1, {half, rows - half});
  return best;
}

// A multiple of every tile's columns, near what is wanted and no more than there are. Powers of two are
// reached, so that lengths that are one leave no small rest.
long StreamPlanner::column_block(const std::vector<Covered*>& blocks, long wanted) const {
  long step = 1;
  for (const Covered* c : blocks) step = std::lcm(step, long(c->blocks.tile.rows));
  const auto tiles = [&](long columns) { return std::max(1L, (columns + step - 1) / step); };
  return std::min(tiles(wanted), tiles(s_.cols)) * step;
}

// As much a tile as brings all of it, by the number of tiles that there are on average.
void StreamPlanner::plan_asks(StreamPlan& plan, const Covered& c) const {
  plan.ahead = asks_ahead();
  if (!asks_next()) return;
  const RowBlocks& b = c.blocks;
  const long seen = seen_by_all(c);
  if (seen == 0) return;
  const auto part = [](long whole, long times) {  // the least divisor that is enough for so many times
    long p = std::min(whole, (whole + times - 1) / times);
    while (whole % p) ++p;
    return p;
  };
  plan.asked_rows = part(b.rows, std::max(1L, seen / b.count / b.tile.rows));
  if (!plan.ahead && s_.outer0 * s_.outer1 > 1) plan.asked_columns = part(b.tile.rows, std::max(1L, seen / s_.cols));
}

StreamPlan StreamPlanner::plan(const StreamChoice& choice) {
  StreamPlan plan = hull_;
  const std::vector<Covered*> covered = blocks(choice.scores);
  long lanes_rows = isa_.lanes, first = 0;
  for (const Covered* c : covered) {
    plan.blocks.push_back(c->blocks);
    plan.blocks.back().first = first;
    first += c->blocks.count;
    lanes_rows = std::max(lanes_rows, long(c->blocks.tile.vectors) * isa_.lanes);
  }
  plan.value_rows = choice.values.rows;
  if (!covered.empty()) plan_asks(plan, *covered[0]);
  plan.groups = groups_of(s_.width, choice.values.vectors, isa_.lanes);
  plan.column_block = column_block(covered, choice.column_block);
  plan.rows_without_any = keep_ && (s_.keep->at_run_time || !rows_without_any(*keep_, s_.rows, s_.cols).empty());
  plan.one_visit = !covered.empty() && std::all_of(covered.begin(), covered.end(), [&](const Covered* c) { return one_visit(*c, plan.column_block); });
  plan.local_floats = aligned_floats(s_.depth * lanes_rows) + (plan.column_block + 7 + plan.one_visit + std::max(1L, s_.width) + long(s_.values.size())) * lanes_rows + aligned_floats(plan.column_block + 1);
  return plan;
}

std::vector<StreamChoice> StreamPlanner::choices() {
  std::vector<StreamChoice> r;
  const int needed = int(std::max(1L, (s_.rows + isa_.lanes - 1) / isa_.lanes));
  const int wide = int(std::max(1L, (s_.width + isa_.lanes - 1) / isa_.lanes));
  std::vector<Tile> scores, values;
  for (const Tile& t : legal_tiles(isa_)) {
    if (t.vectors <= needed && legal(t)) scores.push_back(t);
    if (t.vectors <= wide && (t.rows == 1 || (s_.width > 0 && t.rows <= s_.rows))) values.push_back(t);
  }
  for (std::vector<Tile>* list : {&scores, &values}) {  // tiles that leave most registers idle serve nobody
    int most = 0;
    for (const Tile& t : *list) most = std::max(most, t.rows * t.vectors);
    std::erase_if(*list, [&](const Tile& t) { return 2 * t.rows * t.vectors < most; });
  }
  for (const Tile& t : scores) {
    const std::vector<Covered*> covered = blocks(t);
    if (covered.empty() && s_.rows > 0) continue;
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
