#include "schedule/tiles.h"

#include <algorithm>

namespace attune {

bool fits(Tile t, const Isa& isa) { return registers_of(t) <= isa.registers; }

std::vector<Tile> legal_tiles(const Isa& isa) {
  std::vector<Tile> r;
  for (int vectors = 1; vectors <= isa.registers; ++vectors)
    for (int rows = 1; rows <= isa.registers; ++rows)
      if (fits({rows, vectors}, isa)) r.push_back({rows, vectors});
  return r;
}

long vector_loads(Tile t) {
  const bool unrolled = body(t) <= 35;  // measured: between this and long_body it depends
  return t.rows <= 3 && t.rows < t.vectors && !unrolled ? t.rows * t.vectors : t.vectors;
}

Cut cut(long rows, int most) {
  const long tiles = std::max(1L, (rows + most - 1) / most);
  return {rows / tiles, rows % tiles, tiles - rows % tiles};
}

}  // namespace attune
