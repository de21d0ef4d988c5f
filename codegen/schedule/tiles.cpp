#include "schedule/tiles.h"

#include <algorithm>

namespace attune {

bool fits(Tile t, const Isa& isa) { return t.rows * t.vectors + std::min(t.rows, t.vectors) + 1 <= isa.registers; }

std::vector<Tile> legal_tiles(const Isa& isa) {
  std::vector<Tile> r;
  for (int vectors = 1; vectors <= isa.registers; ++vectors)
    for (int rows = 1; rows <= isa.registers; ++rows)
      if (fits({rows, vectors}, isa)) r.push_back({rows, vectors});
  return r;
}

long step_cost(Tile t, const Isa& isa) {
  const Machine& m = isa.machine;
  const long fma = 120L * t.rows * t.vectors / m.fma_per_cycle;
  const long load = 120L * (t.rows + t.vectors) / m.loads_per_cycle;
  // Loads that fill their slots leave no room for what the loop itself needs.
  // Chains that just cover the latency stall on every hiccup.
  // A load that hits L1 hides behind the arithmetic four times of five.
  return std::max({fma, load + load / 8, 150L * m.fma_latency}) + 24L * (t.rows + t.vectors);
}

Cut cut(long rows, int most) {
  const long tiles = std::max(1L, (rows + most - 1) / most);
  return {rows / tiles, rows % tiles, tiles - rows % tiles};
}

long cover_cost(long rows, Tile t, const Isa& isa) {
  const Cut c = cut(rows, t.rows);
  const auto of = [&](long tiles, long height) { return tiles ? tiles * step_cost({int(height), t.vectors}, isa) : 0; };
  return of(c.taller, c.height + 1) + of(c.others, c.height);
}

}  // namespace attune
