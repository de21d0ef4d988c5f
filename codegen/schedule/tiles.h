// Which tile shapes an ISA's registers allow, and what a step of each costs.
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
bool fits(Tile, const Isa&);
std::vector<Tile> legal_tiles(const Isa&);

// Cost of one step in 1/120 of a cycle: the FMA slots, the load slots or the latency of the
// accumulators' own chains, whichever is the narrowest.
long step_cost(Tile, const Isa&);

// Rows cut into as few tiles as there can be of at most `most` rows, all of nearly one height: `taller`
// of height + 1 come first, then `others` of `height`. A small rest would have too few accumulators.
struct Cut {
  long height, taller, others;
  long rows_taller() const { return taller * (height + 1); }
};
Cut cut(long rows, int most);

// Cost of a step of all tiles that cover `rows` rows, of at most this many each.
long cover_cost(long rows, Tile, const Isa&);

}  // namespace attune
