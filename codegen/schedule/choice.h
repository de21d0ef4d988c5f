// What there is to decide about a region. Everything else in its plan follows from this.
#pragma once
#include <string>
#include <variant>
#include <vector>

#include "passes/region.h"
#include "schedule/tiles.h"

namespace attune {

struct ContractChoice {
  Tile tile;  // rows x vectors of columns: a panel's width
  bool operator==(const ContractChoice&) const = default;
};

struct StreamChoice {
  Tile scores;            // columns (broadcast) x vectors of rows: a block's height
  Tile values;            // rows x vectors of columns, of the second product
  long column_block = 0;  // columns between two updates of the rows' state; rounded to whole tiles
  bool operator==(const StreamChoice&) const = default;
};

// Nothing to decide: monostate.
using Choice = std::variant<std::monostate, ContractChoice, StreamChoice>;
using Choices = std::vector<Choice>;  // one a region; those at the end may be missing

inline void decide(Choices& choices, std::size_t region, Choice c) {
  if (choices.size() <= region) choices.resize(region + 1);
  choices[region] = c;
}
inline bool decided(const Choices& choices, std::size_t region) { return region < choices.size() && !std::holds_alternative<std::monostate>(choices[region]); }

// "6x4"; "scores 6x4, values 6x4, 96 columns".
std::string text_of(const Choice&);

// Every choice that the registers and lanes of the ISA allow and that makes sense for the region's
// sizes, with what the model says a call takes, in cycles of one core; the one to take first, then the cheapest
// (ranking.h). Empty for
// a region that leaves nothing to decide. The order depends on nothing else.
struct Ranked {
  Choice choice;
  double cycles = 0;
};
std::vector<Ranked> ranked_choices(const Region&, const Isa&);

}  // namespace attune
