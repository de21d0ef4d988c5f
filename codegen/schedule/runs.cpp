// How the blocks of rows of a stream visit its columns: by bounds, which a block's number tells or else a
// table, or as a table of runs.
#include <algorithm>

#include "schedule/planners.h"

namespace attune {
namespace {

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

Edge edge_of(long rows, std::vector<long> bounds, long cols) {
  Edge e{rows, fit_affine(bounds, cols), {}};
  if (!e.line.exact) e.table = std::move(bounds);
  return e;
}

}  // namespace

RunPlan plan_runs(const std::vector<std::vector<Run>>& rows, long cols) {
  RunPlan plan;
  plan.some_empty = std::any_of(rows.begin(), rows.end(), [](const auto& r) { return r.empty(); });
  const bool all = std::all_of(rows.begin(), rows.end(), [&](const auto& r) { return r.size() == 1 && r[0] == Run{0, cols, Kept::all}; });
  if (all) return plan;
  std::vector<long> edge[4];
  bool sequences = true;
  for (const auto& r : rows) {
    long e[4];
    sequences = sequences && edges_of(r, e);
    for (int i = 0; sequences && i < 4; ++i) edge[i].push_back(e[i]);
  }
  std::size_t entries = 0;
  for (int i = 0; sequences && i < 4; ++i) {
    plan.edges[i] = edge_of(1, std::move(edge[i]), cols);
    entries += plan.edges[i].table.size();
  }
  plan.form = sequences && entries <= table_entries ? RunPlan::Form::edges : RunPlan::Form::table;
  if (plan.form == RunPlan::Form::edges) return plan;
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
    plan.form = RunPlan::Form::edges;  // everything is visited, in part
    for (int i = 0; i < 4; ++i) plan.edges[i] = {1, {0, i < 3 ? 0 : cols, cols, true}, {}};
  }
  return plan;
}

std::vector<Run> visited(const RunPlan& plan, long block, long cols) {
  std::vector<Run> r;
  const auto add = [&](long begin, long end, bool whole) {
    if (begin < end) r.push_back({begin, end, whole ? Kept::all : Kept::mixed});
  };
  switch (plan.form) {
    case RunPlan::Form::whole: add(0, cols, true); break;
    case RunPlan::Form::edges:
      for (int e = 0; e < 3; ++e) add(plan.edges[e](block), plan.edges[e + 1](block), e == 1);
      break;
    case RunPlan::Form::table:
      for (long u = plan.first[std::size_t(block)]; u < plan.first[std::size_t(block) + 1]; ++u) add(plan.begin[std::size_t(u)], plan.end[std::size_t(u)], plan.whole[std::size_t(u)]);
  }
  return r;
}

void plan_hull(StreamPlan& plan, const Stream& s, const IndexAnalysis& keep, int lanes) {
  const auto of_each = [&](long rows) {
    std::vector<long> low, high;
    for (long r = 0; r < s.rows; r += rows) {
      const Block b{0, s.outer0, 0, s.outer1, r, std::min(r + rows, s.rows), 0, s.cols};
      const long last = keep.last_kept(b);
      low.push_back(last < 0 ? 0 : keep.first_kept(b));
      high.push_back(last + 1);
    }
    return Hull{edge_of(rows, std::move(low), s.cols), edge_of(rows, std::move(high), s.cols)};
  };
  if (2 * ((s.rows + lanes - 1) / lanes) > long(table_entries)) return;
  plan.hull = of_each(lanes);
  plan.row_hull = of_each(1);
  if (!plan.row_hull->low.table.empty()) plan.row_hull->low = plan.hull->low;
  if (!plan.row_hull->high.table.empty()) plan.row_hull->high = plan.hull->high;
}

}  // namespace attune
