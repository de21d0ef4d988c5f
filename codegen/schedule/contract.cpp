#include <algorithm>
#include <numeric>

#include "schedule/planners.h"

namespace attune {

// Whether the epilogue reads elements half a group away.
static bool has_halves(const Expression& e) {
  for (const Term& t : e.terms)
    if (t.fn == Fn::partner && t.index != 0) return true;
  return false;
}

bool ContractPlanner::legal(Tile t) const {
  // An item completes whole groups: where panels straddle them it takes several, and all of their weights.
  for (const Segment& s : c_.segments)
    if (const long group = vectors(s) / s.groups; s.finish && group % t.vectors && (group % 2 == 0 || group % 3 == 0)) return false;
  const bool halves = std::any_of(c_.segments.begin(), c_.segments.end(), [](const Segment& s) { return has_halves(s.epilogue); });
  return !halves || t.vectors % 2 == 0;
}

long ContractPlanner::vectors(const Segment& s) const { return (s.width + isa_.lanes - 1) / isa_.lanes * s.groups; }

long ContractPlanner::weight_bytes() const {
  long floats = 0;
  for (const Segment& s : c_.segments) floats += vectors(s) * isa_.lanes * c_.depth;
  return 4 * floats;
}

// Whether the weights are gone from L2 when the next call comes.
bool ContractPlanner::beyond_l2() const { return weight_bytes() > isa_.machine.l2_bytes / 2; }

// Tiles ask for the next panel where there are enough of them to wait for it.
bool ContractPlanner::asks_next_panel(Tile t) const { return beyond_l2() && c_.rows >= 6L * t.rows && stride_of(c_.a.dims[3]) == 1; }

// With many tiles a panel is near most of the time.
bool ContractPlanner::asks_further_on(Tile t) const { return weight_bytes() > isa_.machine.l1_bytes && c_.rows <= 8L * t.rows; }

// All rows against a panel of this many columns. A panel that L1 does not hold comes from L2 once per tile of
// rows, as the rows do.
Account ContractPlanner::panel(Tile t, long slots) const {
  const Machine& m = isa_.machine;
  const long bytes = 4L * t.vectors * isa_.lanes * c_.depth, input = 4 * c_.rows * c_.depth;
  const bool resident = bytes <= m.l1_bytes / 2, far = input + bytes > m.l2_bytes * 3 / 4;
  Clerk clerk(m);
  const auto tiles = [&](long rows, long n) {
    if (n == 0) return;
    const long read = 4 * n * c_.depth * rows;
    clerk.steps({int(rows), t.vectors}, n * c_.depth, {.slots = n * rows * t.vectors * slots, .l2 = (resident ? 0 : n * bytes) + (far ? 0 : read), .memory = far ? read : 0});
    clerk.tiles({int(rows), t.vectors}, n);
  };
  const Cut c = cut(c_.rows, t.rows);
  tiles(c.height + 1, c.taller);
  tiles(c.height, c.others);
  // The first pass is no faster than memory; all together are not if the panel was asked for.
  const long all = clerk.account().total();
  if (asks_next_panel(t)) clerk.wait_for_memory(bytes, m.asked_rate, all);
  else if (beyond_l2()) clerk.wait_for_memory(bytes, m.memory_rate, all / (c.taller + c.others));
  return clerk.account();
}

// Rows of groups that are complete: a norm, of two conversions and multiply-adds in double a vector and the wait for
// its root, and what becomes of the elements.
Account ContractPlanner::finish(const Segment& s) const {
  const long vectors = (s.width + isa_.lanes - 1) / isa_.lanes, root = 60;
  Clerk clerk(isa_.machine);
  clerk.rows(c_.rows * s.groups * (root + vectors * (4 + slots_of(s.finish->value, isa_.machine) / isa_.machine.fma)));
  return clerk.account();
}

Account ContractPlanner::account(const ContractChoice& choice) const {
  Account a;
  for (const Segment& s : c_.segments) {
    const long all = vectors(s), left = all % choice.tile.vectors, slots = slots_of(s.epilogue, isa_.machine);
    a += all / choice.tile.vectors * panel(choice.tile, slots);
    if (left) a += panel({choice.tile.rows, int(left)}, slots);
    if (s.finish) a += finish(s);
  }
  return c_.outer0 * c_.outer1 * a;
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
    if (s.finish) p.panels_of_item = std::lcm(long(p.tile.vectors), p.vectors_in_group) / p.tile.vectors;
    p.items = (p.panels + p.panels_of_item - 1) / p.panels_of_item;
    p.packed_offset = offset;
    p.packed_floats = aligned_floats(p.vectors * isa_.lanes * c_.depth);
    offset += p.packed_floats;
    plan.panels += p.panels;
    plan.items += p.items;
    plan.parts.push_back(p);
  }
  const Cut c = cut(c_.rows, choice.tile.rows);
  const long items = std::max(1L, plan.panels * c_.outer0 * c_.outer1);
  plan.slices = std::clamp((items_wanted + items - 1) / items, 1L, std::max(1L, (c.taller + c.others) / tiles_of_an_item));
  plan.asks_next_panel = asks_next_panel(choice.tile);
  plan.asks_further_on = asks_further_on(choice.tile);
  return plan;
}

}  // namespace attune
