// An Expression as code: for one element, or for a vector of elements along one coordinate.
#pragma once
#include <array>
#include <functional>
#include "loops/ir.h"
#include "passes/region.h"

namespace attune::loops {

// How buffers are reached: every function of a kernel takes the table of its pointers.
struct Memory {
  const Program* program;
  Expr pointer(int buffer) const;  // m.name
};

// How far along one dim an element lies.
Expr offset_along(const Axes&, const Expr& at);
// Address of an element; a dim of several axes is taken apart by / and %.
Expr address(const Memory&, const View&, const std::array<Expr, region_rank>& at);

class ElementCode {
 public:
  const Memory* memory = nullptr;
  const Expression* expression = nullptr;
  std::array<Expr, region_rank> at;  // of the first lane
  int lane_axis = -1;                // -1: scalar code
  Expr lanes_at;                     // the coordinates of the lanes, if a variable holds them
  long part = -1;                    // lanes that exist, -1: all
  Expr acc, peak, old_peak, total;   // of real or vec type
  Expr shift;                        // shift_of(peak), if there is one: makes e^(acc - peak) cheaper
  // A vector of a tensor that lies apart in memory, if code before has it in registers; empty if not.
  std::function<Expr(const View&, const ElementCode&, bool integer)> at_hand;
  // Of a term `partner` whose partners lie whole vectors away, its value.
  std::function<Expr(const Term&)> partner;

  Expr operator()() const { return real_value(expression->root()); }
  Expr real_value(int term) const;  // vec where lanes are in use, else real
  Expr truth(int term) const;       // lanes or flag
  Expr whole() const { return value(expression->root()).e; }  // of an integer, without lanes

 private:
  struct Value {
    Expr e;
    bool varying;
  };
  Value value(int term) const;
  Value arithmetic(const Term&) const;
  Value comparison(const Term&) const;
  Value tensor(const Term&) const;
  Value as_real(Value, Kind) const;
  Expr widened(const Value&, Kind) const;
  const Term& term(int t) const { return expression->terms[std::size_t(t)]; }
};

}  // namespace attune::loops
