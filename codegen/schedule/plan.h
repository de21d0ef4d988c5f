// What is decided about each region before any loop is written: tile shapes, block sizes, bounds
// of loops, places in memory.
#pragma once
#include <optional>
#include <string>
#include <utility>
#include "passes/block_map.h"
#include "passes/region.h"
#include "schedule/account.h"
#include "schedule/choice.h"

namespace attune {

struct ContractPlan {
  struct Part {             // of a segment
    Tile tile;              // vectors: a panel's width
    long vectors_in_group = 1;
    long vectors = 0, panels = 0;
    int last_panel = 0;     // vectors of the last panel
    bool halves = false;    // a group's vectors stand in pairs (w, w + half a group)
    long panels_of_item = 1;  // so many that they hold whole groups, where those are finished
    long items = 0;           // of all rows
    long packed_offset = 0; // floats
    long packed_floats = 0;
  };
  std::vector<Part> parts;  // one a segment
  long panels = 0, items = 0;
  long slices = 1;          // of a panel's rows, an item each
  bool asks_next_panel = false;  // each tile asks memory for a part of it,
  bool asks_further_on = false;  // and each step for what a later one reads, so many floats behind its own
  static constexpr long further_on = 256;
};

// A bound of columns, the i-th that of the i-th so many rows.
struct Edge {
  long rows = 1;
  Affine line;
  std::vector<long> table;  // where the line is not exact

  bool grows() const { return table.empty() && line.step >= 0; }  // none is less than one before
  long operator()(long i) const { return table.empty() ? line(i) : table[std::size_t(i)]; }
  long of_row(long row) const { return (*this)(row / rows); }
};

// Which columns the i-th block of rows visits: three runs side by side (in part, whole, in part), or the
// runs of a table.
struct RunPlan {
  enum class Form { whole, edges, table } form = Form::whole;
  Edge edges[4];                         // edges: the runs are [e0, e1) in part, [e1, e2) whole, [e2, e3) in part
  std::vector<long> first, begin, end;   // table: the i-th block has runs first[i] .. first[i + 1]
  std::vector<long> whole;               // table: 1 or 0 for each run
  bool some_empty = false;               // a block visits nothing
};

// Blocks of rows of one size; the last ones of a region may be of another size than the others.
struct RowBlocks {
  long rows = 0;          // that exist
  Tile tile;              // of scores: columns (broadcast) x row vectors
  long first_row = 0;
  long first = 0, count = 0;  // of the region's blocks
  RunPlan runs;
};

// Outside of [low, high) rows keep nothing.
struct Hull {
  Edge low, high;
};

struct StreamPlan {
  std::vector<RowBlocks> blocks;
  long column_block = 0;  // columns between two updates of the rows' state
  // What each score tile of whole columns asks memory for: the next columns and their values; else so many
  // columns and values of the next head; and so many rows of the next block and of this one's results.
  bool ahead = false;
  long asked_columns = 0, asked_rows = 0;
  int value_rows = 1;     // rows of the second product's tile
  struct Group {          // columns of one tile of the second product
    long offset = 0;
    int vectors = 0;
    int part = 0;         // lanes of its last vector
  };
  std::vector<Group> groups;
  std::optional<Hull> hull;                 // of each vector of rows
  std::optional<Hull> row_hull;             // and of each row, on either side where it is affine
  bool rows_without_any = false;            // a row that is visited may keep nothing
  bool one_visit = false;                   // a block of rows sees all of its columns in one block of columns
  long local_floats = 0;
};

struct Schedule {
  const Isa* isa = nullptr;
  std::vector<std::variant<std::monostate, ContractPlan, StreamPlan>> regions;  // one a region
  std::vector<std::optional<Account>> accounts;                                 // likewise: what it takes of a call by the model, if that knows
  std::vector<long> buffer_offset;  // of scratch in the workspace, of weights and tables in the packed memory; floats
  long workspace_floats = 0, local_floats = 0, packed_floats = 0;
};

// By the given choices, one a region; where there is none, by the one that the model ranks first.
// Throws std::invalid_argument if a choice is not legal for its region.
Schedule schedule(const Program&, const Isa&, const Choices& = {});

// describe.cpp: a paragraph a region, for people and for the head of a generated file.
std::vector<std::string> describe(const Program&, const Schedule&);

// What is the busiest while a region runs, and what comes next: "fma 84 % of the time, then loads 42 %".
std::string bound(const Account&);

// So many operations in that time, of what the peak allows in it.
double percent_of_peak(const Account&, double flops, double flops_a_cycle);

// What the model says of each region, in a table for `attune explain`.
std::string accounts(const Program&, const Schedule&);

// Rounded up to a multiple of 64 bytes.
constexpr long aligned_floats(long n) { return (n + 15) / 16 * 16; }

}  // namespace attune
