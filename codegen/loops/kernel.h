// The loops of a whole kernel, region by region.
#pragma once
#include <type_traits>

#include "loops/element.h"
#include "schedule/plan.h"

namespace attune::loops {

// Work of a region: `items` independent calls of item(m, item, local), in any order.
struct Work {
  std::string item;
  std::string title;
  long items = 0;
  std::string local = {};  // the Struct of its worker's memory, if it has one
};

// Named parts of a worker's memory.
struct Struct {
  struct Field {
    std::string name;
    long floats;
    std::string comment;
  };
  std::string name, comment;
  std::vector<Field> fields;
};

struct Kernel {
  const Program* program = nullptr;
  const Schedule* schedule = nullptr;
  std::vector<Struct> structs;
  std::vector<Function> functions;
  std::vector<Work> work;
  Body pack;  // of pack_weights, reading w.name and writing to packed
};

// `vectorisable`: plain products run with the innermost loop over the columns of the result.
Kernel lower(const Program&, const Schedule&, bool vectorisable = false);

// ---- what the regions' lowerings share ------------------------------------------------------------

inline Expr float_lowest() { return name("-__FLT_MAX__", Type::real); }
inline Expr infinity() { return name("__builtin_inff()", Type::real); }
inline Expr minus_infinity() { return name("-__builtin_inff()", Type::real); }
inline Expr number(double x) { return x == -__builtin_inf() ? minus_infinity() : real(x); }
inline Parameter memory_parameter() { return {Type::memory, "m"}; }
inline Expr memory_argument() { return name("m", Type::memory); }

// Lists one behind the other; the middle one's elements say what they are of.
template <class T>
std::vector<T> joined(std::type_identity_t<std::vector<T>> a, const std::vector<T>& b, const std::type_identity_t<std::vector<T>>& c) {
  a.insert(a.end(), b.begin(), b.end());
  a.insert(a.end(), c.begin(), c.end());
  return a;
}

struct Context {
  Kernel& kernel;
  Memory memory;
  std::string prefix;  // unique to the region
  int lanes = 1;
  bool vectorisable = false;
  Function& function(std::string name, std::string comment, std::vector<Parameter> parameters);
  bool has(const std::string& name) const;  // a function of that name was made
};

// Declares the accumulators s00.. of a tile and returns them by [row][vector]; they start at start[v], or at 0.
using Accumulators = std::vector<std::vector<Expr>>;
Accumulators declare_accumulators(Block&, Tile, const std::vector<Expr>& start = {});
// What the steps of a tile read.
struct Operands {
  std::string title;  // of these strides, for a function's name
  Expr scalars;       // that of row i in step k at [i * scalar_row + k * scalar_step]
  long scalar_row, scalar_step;
  Expr vectors;  // vector v in step k at + v * lanes + k * vector_step
  long vector_step;
  long part = -1;  // lanes of the last vector, -1: all
};
struct Steps {
  std::function<Expr(Expr k)> some_hole = {};                 // if true, a row's scalar of -0 stands for no step of the row
  Expr before_holes = {};                                     // steps before the first for which it is true
  static constexpr long line = 16;                            // floats of a cache line
  std::function<void(Block&, const Expr& k)> ahead = {};      // what to ask memory for before steps k .. k + every; needs a constant depth
  long every = line;                                          // a multiple of it, or all steps
  std::function<void(Block&, const Expr& k)> beside = {};     // what stands before step k,
  long beside_body = 0;                                       // in instructions
  // What is done between the steps, in outer * inner parts: run(at, o, i) for o < outer, i < inner. For tiles whose
  // steps are functions.
  struct Between {
    int outer = 0, inner = 0;
    std::function<void(Block&, const Expr& o, int i)> run = {};
  } between = {};
  bool rare = false;                                          // not unrolled where GCC would then move accumulators about
};
// s[i][v] += scalar i * vector v for all k in [0, depth).
void accumulate(Context&, Block&, const Accumulators&, const Expr& depth, const Operands&, const Steps& = {});
// One step, at the index k; `holes`: a row whose scalar is -0 is left out of it.
void step(Block&, const Accumulators&, const Operands&, int lanes, bool holes = false);
// Whether a tile's steps are functions of their own, and the product by these.
bool step_apart(const Isa&, Tile, const Operands&);
void accumulate_by_steps(Context&, Block&, const Accumulators&, const Expr& depth, const Operands&, const Steps&);

// A loop over the tiles of each height: calls f with a tile's height and its first row, by the name.
void each_tile(Block&, const std::string& row, const Cut&, const std::function<void(Block&, int height, const Expr& row)>& f);

// The loads and stores of a vector of which only `part` lanes exist (-1: all of them).
Expr load_vector(Expr pointer, long part);
Expr store_vector(Expr pointer, Expr value, long part);

// The norm of `width` elements that lie one behind the other.
Expr norm_of_row(const InverseNorm&, const Expr& row, long width);

// An item's function: its body is built once per row by `row`, at coordinates c0, c1, row; `before`
// writes what stands before the rows.
void per_row(Context&, long outer0, long outer1, long rows, const std::function<void(Block&, const std::array<Expr, region_rank>&)>& row, const std::function<void(Block&)>& before = {});

void lower_contract(Context&, const Contract&, const ContractPlan&);
void lower_stream(Context&, const Stream&, const StreamPlan&);
void lower_pointwise(Context&, const Pointwise&);
void lower_product(Context&, const Product&);
void lower_row_reduce(Context&, const RowReduce&);
void lower_row_norm(Context&, const RowNorm&);
void lower_angles(Context&, const Angles&);
void pack_angles(Block&, const Angles&, const Memory&, long offset);
void pack_spread(Block&, const Spread&, const Memory&, long offset);
void pack_contract(Block&, const Contract&, const ContractPlan&, int lanes, const Memory&);

}  // namespace attune::loops
