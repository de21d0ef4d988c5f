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

// Cost of covering `rows` rows with tiles of this many, the last one being what is left.
long cover_cost(long rows, Tile, const Isa&);

}  // namespace attune
