#include "schedule/plan.h"

namespace attune {

// Whether the epilogue reads elements half a group away.
static bool has_halves(const Expression& e) {
  for (const Term& t : e.terms)
    if (t.fn == Fn::partner && t.index != 0) return true;
  return false;
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
      const long cost = p.vectors / t.vectors * cover_cost(c.rows, t, isa) + (left ? cover_cost(c.rows, {t.rows, int(left)}, isa) : 0);
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
