// The pieces of a stream's loops; see DESIGN of region.h: scores of a block of rows against a block
// of columns, their reduction, and the second product, without ever storing a row of scores.
#pragma once
#include <fmt/format.h>

#include <numbers>

#include "loops/kernel.h"

namespace attune::loops {

inline Expr index(const char* n) { return name(n, Type::index); }

// Layout of a worker's memory, in floats; `rows` is the number of lanes of the largest block.
struct StreamMemory {
  long rows, depth, columns, width, values, odd_floats;
  long at() const { return 0; }                                         // [depth][rows]: the block's rows, on lanes
  long scores() const { return aligned_floats(depth * rows); }          // [columns][rows]
  long peak() const { return scores() + columns * rows; }               // [rows] each from here on
  long total() const { return peak() + rows; }
  long carry() const { return peak() + 2 * rows; }                      // what one block of columns hands to the older ones
  long block_peak() const { return peak() + 3 * rows; }
  long block_total() const { return peak() + 4 * rows; }
  long shift() const { return peak() + 5 * rows; }
  long odd() const { return peak() + 6 * rows; }                        // where one visit ends a block of rows
  long kept() const { return odd() + odd_floats; }                      // of the safe path, as are these:
  long holes() const { return kept() + rows; }                          // [columns], and how many come before the first
  long before_holes() const { return holes() + columns; }
  long fast() const { return holes() + aligned_floats(columns + 1); }   // [rows][width]
  long row_values() const { return fast() + rows * width; }             // [values][rows]
};

// Whether the algebra's weight is made of e^(score - peak), so that any reference near the peak serves.
bool subtracts_peak_in_exponent(const Expression&);
// Whether an expression is e^(a - peak) and nothing else.
bool is_exp_below_peak(const Expression&, Fn a);

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
  // Weights are made where the scores are, in registers: the peak need not be the greatest score, a
  // reference taken from the first columns will do, and rows that leave the range are mended.
  bool direct_;
  bool lowers_;    // and do so by a factor, since they are e^(score - peak)
  // The weight is 2^(score - peak), with scores in units of log 2 and accumulators that start at -peak.
  bool binary_;

  struct Columns {  // which kinds a block of columns may hold
    bool whole, before, after;
  };

  Expr local(long offset) const;      // a place in the worker's memory, by its name
  Parameter local_parameter() const { return {Type::out, "local", memory_name()}; }
  std::string memory_name() const { return c_.prefix + "_memory"; }
  Struct memory_struct() const;
  // What each dot has of a column or of a row: its names, its places.
  static std::string of_dot(const char* n, std::size_t dot) { return dot ? fmt::format("{}_{}", n, dot + 1) : n; }
  std::vector<Parameter> column_parameters() const;
  std::vector<Expr> columns_on(const Expr& j) const;     // by their names, j further on
  std::vector<Expr> columns_at(const Expr& col) const;
  void declare_columns(Block&, const Expr& col) const;
  // score_tile.cpp
  enum class Gives { scores, weights, natural };  // natural: scores of rows that were turned without their scale
  static const char* named(Gives g) { return g == Gives::scores ? "scores" : g == Gives::weights ? "weights" : "natural"; }
  std::string score_tile(Tile, bool keep, long last_part, Gives);
  // late_tile.cpp
  bool weighs_late(const RowBlocks&) const;
  std::string late_tile(Tile);
  std::string weigh_tile(Tile);
  void weigh_what_is_late(Block&, Tile);
  Operands operands(const Dot&, std::size_t i, const Expr& rows) const;
  Expr shift_of(const Expr& peak) const;
  ElementCode by_algebra(const Expression&) const;
  Expr rescale_of(const Expr& old, const Expr& peak) const;
  Expr weight_of(const Expr& score, const Expr& peak, const Expr& shift) const;
  ElementCode at_lane(const Expression&, const RowBlocks&, int v, const Expr& col) const;
  bool factors() const { return !s_.factored.is(Fn::acc); }  // weights do not meet the values as they are
  std::string weigh(const RowBlocks&);
  void run_weigh(Block&, const RowBlocks&, const Expr& col, const Expr& count, bool all);
  std::string weigh_name(const RowBlocks&, const char* suffix = "") const;
  enum class Path { fast, safe };
  // values.cpp
  enum class Fold { adds, adds_with_holes, ends };  // with holes: weights of -0 stand for pairs that don't count
  std::string value_tile(int rows, const StreamPlan::Group&, Fold);
  void end_rows(Block&, const Accumulators&, const std::function<void(int row, int vector)>& store) const;
  std::string fold(const RowBlocks&, Fold);
  // ask.cpp
  void ask(Steps&, Block&, Tile, std::size_t dot) const;
  // row_end.cpp
  bool scales_result() const;  // the algebra multiplies by something at the end
  Expr nothing_counted(int v) const;
  void set_factors(Block&, const RowBlocks&, Path);
  std::string end_block(const RowBlocks&);
  void store_row_values(Block&, const RowBlocks&, Path, bool nothing_counts = false);
  // safe.cpp
  bool scales_last() const;
  std::string weigh_safely(const RowBlocks&);
  Expr before_holes() const { return call("long", Type::index, {element(local(at_.before_holes()), 0)}); }
  std::string visit_safely(const RowBlocks&, Columns);
  std::string safe_rows(const RowBlocks&);
  Expr is_odd(Block& row, const std::function<Expr(const Expr& n)>& place_of) const;
  std::string no_row_is_finite(const RowBlocks&);
  // mend.cpp, visit.cpp
  std::string part_band(const RowBlocks&, int height, Gives);
  void whole_band(Block&, const RowBlocks&, Gives, int height, const std::vector<Expr>& columns, const Expr& to, const Expr& col);
  void band(Block&, const RowBlocks&, Columns, Gives, int height, const Expr& j, bool late = false);
  std::string bands(const RowBlocks&, Columns, Gives);
  void run_bands(Block&, const RowBlocks&, Columns, Gives, const Expr& from);
  std::string visit(const RowBlocks&, Columns, bool first_band);
  void set_state(Block&, const RowBlocks&, long slot, const Expr& value);
  void reference(Block&, const RowBlocks&, const std::vector<Expr>& cols);
  bool slanted() const;  // scores depend on how far along the columns they are
  std::string mend(const RowBlocks&, Columns);
  std::string lower_weights(const RowBlocks&);
  std::string carry_over(const RowBlocks&);
  void carry_if_older(Block&, const RowBlocks&);  // unless the block of rows is fresh
  Expr in_range(const Expr& total) const;
  Expr at_most(const Expr& total, double limit) const;
  Expr can_be_lowered(const Expr& total, const Expr& peak) const;
  enum class Ask { in_range, can_be_lowered };
  Expr some_row_is_not(Block&, const RowBlocks&, Ask);
  // stream.cpp
  void turn_rows(Block&, const RowBlocks&, double scale);
  void turn_rows(Block&, const RowBlocks&, std::size_t dot, const Expr& to, double scale);
  long last_part(const RowBlocks&) const;
  bool last_is_longest() const;
  std::string some_pair(const RowBlocks&);
  void visit_runs(Block&, const RowBlocks&, const Expr& i, Path);
  bool may_see_nothing(const RowBlocks&) const;
  void finish(Block&, const RowBlocks&);
  void each_vector(Block&, const std::function<void(Block&, const Expr& n, long part)>&) const;
  Expr place(Block&, const RowBlocks&);
  void declare_fresh(Block&) const;
  std::string block(const RowBlocks&);
  Expr edge(Block&, const Edge&, const std::string& side, const Expr& i, long count, const std::string& suffix = {}) const;
  Expr edge_of_rows(Block& b, const Edge& e, const char* side, const Expr& row, const std::string& suffix) const { return edge(b, e, side, row / e.rows, (s_.rows + e.rows - 1) / e.rows, suffix); }
  Expr bound(const Affine&, const Expr& i, long count) const;
  bool values_alone() const { return s_.width == 0; }  // no weighted sums, only the rows' values
  Expr odd_totals(Block&, const RowBlocks&) const;     // NaN where a row's total is not finite
  bool reads_rows() const;  // tensors are read along the rows
  static long a_row(const Dot& d) { return *stride_of(d.a.dims[2]); }
  static long b_col(const Dot& d) { return *stride_of(d.b.dims[2]); }
  long v_col() const { return *stride_of(s_.v.dims[2]); }
  long out_row() const { return *stride_of(s_.out.dims[2]); }
};

}  // namespace attune::loops
