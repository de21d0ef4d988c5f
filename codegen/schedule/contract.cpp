#include <algorithm>

#include "schedule/planners.h"

namespace attune {

// Whether the epilogue reads elements half a group away.
static bool has_halves(const Expression& e) {
  for (const Term& t : e.terms)
    if (t.fn == Fn::partner && t.index != 0) return true;
  return false;
}

bool ContractPlanner::legal(Tile t) const {
  const bool halves = std::any_of(c_.segments.begin(), c_.segments.end(), [](const Segment& s) { return has_halves(s.epilogue); });
  return !halves || t.vectors % 2 == 0;
}

long ContractPlanner::vectors(const Segment& s) const { return (s.width + isa_.lanes - 1) / isa_.lanes * s.groups; }

// Covering the rows with a panel of this many columns. A panel that L1 does not hold comes from L2
// once per tile of rows, as the rows do: most of that traffic hides behind the arithmetic.
long ContractPlanner::panel_cost(Tile t) const {
  const auto traffic = [&](long rows) {
    const bool resident = 4L * t.vectors * isa_.lanes * c_.depth <= isa_.machine.l1_bytes / 2;
    return 120 * 4 * (rows + (resident ? 0 : t.vectors * isa_.lanes)) / l2_bytes_per_cycle / l2_hidden;
  };
  const Cut c = cut(c_.rows, t.rows);
  return c_.depth * (cover_cost(c_.rows, t, isa_) + c.taller * traffic(c.height + 1) + c.others * traffic(c.height)) + (c.taller + c.others) * tile_overhead;
}

long ContractPlanner::cost(const ContractChoice& choice) const {
  long cost = 0;
  for (const Segment& s : c_.segments) {
    const long all = vectors(s), left = all % choice.tile.vectors;
    cost += all / choice.tile.vectors * panel_cost(choice.tile) + (left ? panel_cost({choice.tile.rows, int(left)}) : 0);
  }
  return cost * c_.outer0 * c_.outer1;
}

std::vector<ContractChoice> ContractPlanner::choices() const {
  std::vector<ContractChoice> r;
  long most = 1;
  for (const Segment& s : c_.segments) most = std::max(most, vectors(s));
  for (const Tile& t : legal_tiles(isa_))
    if (legal(t) && (t.vectors <= std::max(2L, most)) && (t.rows == 1 || t.rows <= c_.rows)) r.push_back({t});
  return r;
}

ContractPlan ContractPlanner::plan(const ContractChoice& choice) const {
  ContractPlan plan;
  long offset = 0;
  for (const Segment& s : c_.segments) {
    ContractPlan::Part p;
    p.halves = has_halves(s.epilogue);
    p.vectors_in_group = (s.width + isa_.lanes - 1) / isa_.lanes;
    p.vectors = vectors(s);
    p.tile = choice.tile;
    p.panels = (p.vectors + p.tile.vectors - 1) / p.tile.vectors;
    p.last_panel = int(p.vectors - (p.panels - 1) * p.tile.vectors);
    p.packed_offset = offset;
    p.packed_floats = aligned_floats(p.vectors * isa_.lanes * c_.depth);
    offset += p.packed_floats;
    plan.panels += p.panels;
    plan.parts.push_back(p);
  }
  return plan;
}

}  // namespace attune
