// The pieces of a stream's loops; see DESIGN of region.h: scores of a block of rows against a block
// of columns, their reduction, and the second product, without ever storing a row of scores.
#pragma once
#include <fmt/format.h>

#include "loops/kernel.h"

namespace attune::loops {

inline Expr index(const char* n) { return name(n, Type::index); }

// Layout of a worker's memory, in floats; `rows` is the number of lanes of the largest block.
struct StreamMemory {
  long rows, depth, columns;
  long at() const { return 0; }                                         // [depth][rows]: the block's rows, on lanes
  long scores() const { return aligned_floats(depth * rows); }          // [columns][rows]
  long peak() const { return scores() + columns * rows; }               // [rows] each from here on
  long total() const { return peak() + rows; }
  long carry() const { return peak() + 2 * rows; }                      // what one block of columns hands to the older ones
  long block_peak() const { return peak() + 3 * rows; }
};

class StreamCode {
 public:
  StreamCode(Context& c, const Stream& s, const StreamPlan& p);
  void lower();

 private:
  Context& c_;
  const Stream& s_;
  const StreamPlan& p_;
  StreamMemory at_;
  int lanes_;
  bool rescales_;  // older sums follow when the peak rises

  Expr local(long offset) const;      // a place in the worker's memory, by its name
  Parameter local_parameter() const { return {Type::out, "local", memory_name()}; }
  std::string memory_name() const { return c_.prefix + "_memory"; }
  Struct memory_struct() const;
  // score_tile.cpp
  std::string score_tile(Tile, bool keep, long last_part);
  Expr weight_of(const Expr& score, const Expr& peak, const Expr& shift = {}) const;
  std::string weigh(int vectors);
  std::string value_tile(int rows, const StreamPlan::Group&);
  // careful.cpp
  std::string careful_row();
  // stream.cpp
  void turn_rows(Block&, const RowBlocks&, const Expr& a);
  long last_part(const RowBlocks&) const;
  std::string part_band(const RowBlocks&, int height);
  std::string visit(const RowBlocks&, bool whole, bool before, bool after);
  std::string fold(const RowBlocks&);
  void visit_runs(Block&, const RowBlocks&, const Expr& i);
  void finish(Block&, const RowBlocks&);
  void each_vector(Block&, const std::function<void(Block&, const Expr& n, long part)>&) const;
  std::string block(const RowBlocks&);
  std::pair<Expr, Expr> hull(Block&, const Expr& vector, const std::string& suffix) const;
  Expr bound(const Affine&, const Expr& i, long count) const;
  bool reads_rows() const;  // the element reads tensors along the rows
  long a_row() const { return *stride_of(s_.a.dims[2]); }
  long a_depth() const { return *stride_of(s_.a.dims[3]); }
  long b_col() const { return *stride_of(s_.b.dims[2]); }
  long b_depth() const { return *stride_of(s_.b.dims[3]); }
  long v_col() const { return *stride_of(s_.v.dims[2]); }
  long out_row() const { return *stride_of(s_.out.dims[2]); }
};

}  // namespace attune::loops
