#include "schedule/plan.h"

namespace attune {

// Whether the epilogue reads elements half a group away.
static bool has_halves(const Expression& e) {
  for (const Term& t : e.terms)
    if (t.fn == Fn::partner && t.index != 0) return true;
  return false;
}

// Covering the rows with a panel of this many columns. A panel that L1 does not hold comes from L2
// once per tile of rows, as the rows do: most of that traffic hides behind the arithmetic.
static long panel_cost(const Contract& c, Tile t, const Isa& isa) {
  constexpr long l2_bytes_per_cycle = 64;
  const auto traffic = [&](long rows) {
    const bool resident = 4L * t.vectors * isa.lanes * c.depth <= isa.machine.l1_bytes / 2;
    return 120 * 4 * (rows + (resident ? 0 : t.vectors * isa.lanes)) / l2_bytes_per_cycle / 4;
  };
  const long left = c.rows % t.rows;
  return cover_cost(c.rows, t, isa) + c.rows / t.rows * traffic(t.rows) + (left ? traffic(left) : 0);
}

ContractPlan plan_contract(const Contract& c, const Isa& isa) {
  ContractPlan plan;
  long offset = 0;
  for (const Segment& s : c.segments) {
    ContractPlan::Part p;
    p.halves = has_halves(s.epilogue);
    p.vectors_in_group = (s.width + isa.lanes - 1) / isa.lanes;
    p.vectors = p.vectors_in_group * s.groups;
    long best = 0;
    for (const Tile& t : legal_tiles(isa)) {
      if (p.halves && t.vectors % 2) continue;
      const long left = p.vectors % t.vectors;
      const long cost = p.vectors / t.vectors * panel_cost(c, t, isa) + (left ? panel_cost(c, {t.rows, int(left)}, isa) : 0);
      if (best && (cost > best || (cost == best && t.rows * t.vectors < p.tile.rows * p.tile.vectors))) continue;  // the larger of equals
      best = cost > 0 ? cost : 1;
      p.tile = t;
    }
    p.panels = (p.vectors + p.tile.vectors - 1) / p.tile.vectors;
    p.last_panel = int(p.vectors - (p.panels - 1) * p.tile.vectors);
    p.packed_offset = offset;
    p.packed_floats = aligned_floats(p.vectors * isa.lanes * c.depth);
    offset += p.packed_floats;
    plan.panels += p.panels;
    plan.parts.push_back(p);
  }
  return plan;
}

}  // namespace attune
