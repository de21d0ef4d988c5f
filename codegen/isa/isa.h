// Targets as data: each ISA is a table of small operations, written out at the top of a generated
// file, so that the body below reads the same on every one. tests/isa/ops.inc says what each means.
//   types      vec (floats), ivec (int32), lanes_t (a truth per lane); + - * / on vec, + - * on ivec
//   memory     load store load_part(p, n) store_part(p, x, n) load_strided(p, stride)
//              load_strided_part(p, stride, n) prefetch (to L1) prefetch_l2; iload iload_part
//              iload_strided iload_strided_part of ints
//              load_four_columns(p, stride, a, b, c, d) iload_four_columns
//              transpose_block(from, from_stride, to, to_stride, scale)
//   values     splat isplat iota first; to_real(ivec)
//   lanes      fma fma_unless(m, a, b, c) min max imin imax swap_pairs
//              select(m, a, b) keep_where(m, a)
//   truths     less less_equal equal not_less is_minus_zero iless iless_equal iequal; both either
//              negation all_lanes(bool); any has_nan give a bool
//   sums       reduce_add reduce_max
//   functions  exp exp_nonpositive exp2 exp2_nonpositive exp2_near shift_of exp_shifted
//              exp2_near_in_place(score, total), of ISAs that are crowded
//              exponent_of inverse_power log tanh floor_div floor_mod
//   state      set_float_state restore_float_state
// min, max, exp, exp2, log and tanh take floats as well, floor_div and floor_mod longs.
#pragma once
#include <set>
#include <string>
#include <string_view>
#include <vector>

#include "isa/machine.h"

namespace attune {

// One operation or type: its C++ text (possibly several overloads) and the names that it uses.
struct OpText {
  std::string name;
  std::string text;
  std::vector<std::string> needs;
};

// Whether an ISA's code may be called: as C++ text for generated code, and asked of this CPU.
struct CpuTest {
  std::string text = "1";
  bool (*here)() = [] { return true; };
};

// A step of a tile: sum [i][v] += scalars[i * scalar_row + k * scalar_step] * the vector at
// vectors + v * lanes + k * vector_step.
struct TileStep {
  int rows, vectors;
  long scalar_row, scalar_step, vector_step;
  std::vector<std::string> sums;  // their names, [row][vector]
};

struct Isa {
  std::string name;
  int lanes;      // floats in a vec
  int registers;  // vecs that fit in the register file
  Machine machine;  // the default one
  std::string headers;      // before `open`, outside of any namespace
  std::string open, close;  // around the code: target pragmas for GCC and Clang, so that no -m flag is needed
  CpuTest cpu_test;
  std::vector<std::string> flags;  // by which a compiler may use the ISA in plain C++ code
  std::vector<OpText> ops;  // every op after those that it needs
  // Where registers are so few that compilers move sums out of a tile's loop: tiles from this many registers on have
  // their step as a function of its own, in machine code where there is an assembler for it.
  int crowded = 1000;
  std::string (*assemble)(const TileStep&) = nullptr;  // a statement on scalars, vectors, k and the sums
};

// The peak of its machine: floating-point operations a cycle, a multiply-add being two.
inline double flops_a_cycle(const Isa& isa) { return 2.0 * isa.lanes * double(isa.machine.fma) / 100; }

// The table of an ISA. Throws std::out_of_range with the list of known names.
const Isa& isa(std::string_view name);

// "portable", "avx2", "avx512": by rising preference.
std::vector<std::string> isa_names();

// The same name, lanes and op names in portable C++ without pragmas: runs kernels of that shape on
// any host. Uses AVX2 and FMA where the compiler's flags allow them, else fmaf from libm.
Isa emulated(const Isa&);

// The text of the ops in `used` and of all that they need, in table order. Throws
// std::out_of_range for a name that the table lacks.
std::string prelude(const Isa&, const std::set<std::string>& used);

// Whether this CPU runs the code of an ISA; false if there is no such.
bool host_supports(std::string_view isa);

// The last of isa_names() that this CPU runs.
std::string fastest_isa();

}  // namespace attune
