// Which tile shapes an ISA's registers allow.
#pragma once
#include <vector>
#include "isa/isa.h"

namespace attune {

// rows x vectors accumulators; a step adds the outer product of `rows` broadcast scalars and
// `vectors` loaded vectors.
struct Tile {
  int rows = 1, vectors = 1;
  bool operator==(const Tile&) const = default;
};

// The smaller operand set is held, the other streams through one register.
constexpr int registers_of(Tile t) { return t.rows * t.vectors + (t.rows < t.vectors ? t.rows : t.vectors) + 1; }
bool fits(Tile, const Isa&);
std::vector<Tile> legal_tiles(const Isa&);

// Instructions of a step: multiply-adds, loads, addresses.
constexpr long body(Tile t) { return t.rows * t.vectors + 2 * t.rows + t.vectors; }
// Beyond this GCC 12 doesn't unroll a loop of such steps by four of its own accord; loops/tile.cpp has it mix two.
inline constexpr long long_body = 40;

// Vectors that a step loads. Of one that three rows or fewer use, GCC makes an operand of each of their
// multiply-adds, unless it unrolls by four.
long vector_loads(Tile);

// Rows cut into as few tiles as there can be of at most `most` rows, all of nearly one height: `taller`
// of height + 1 come first, then `others` of `height`. A small rest would have too few accumulators.
struct Cut {
  long height, taller, others;
  long rows_taller() const { return taller * (height + 1); }
};
Cut cut(long rows, int most);

}  // namespace attune
