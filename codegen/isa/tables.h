// How the tables of codegen/isa are put together. Not for use outside of this folder.
#pragma once
#include "isa/isa.h"

namespace attune {

Isa portable_isa();
Isa avx2_isa();
Isa avx512_isa();

std::string assemble_avx2(const TileStep&);  // Isa::assemble

// What surrounds the code. `target` is a list of features, empty for the compiler's own. Without
// `contract` no compiler fuses a * b + c by itself, so that the same ops give the same bits wherever
// they are inlined.
struct Pragmas {
  std::string open, close;
};
Pragmas pragmas(const std::string& target, bool contract);

// A CpuTest by an expression that compilers for x86 know.
#if defined(__x86_64__) || defined(__i386__)
  #define ATTUNE_X86_TEST(...) \
    CpuTest { #__VA_ARGS__, [] { return bool(__VA_ARGS__); } }
#else
  #define ATTUNE_X86_TEST(...) \
    CpuTest { #__VA_ARGS__, [] { return false; } }
#endif

// Ops whose text is the same on every ISA, since it uses other ops alone.
std::vector<OpText> scalar_ops();   // floats, longs and the floating-point state
OpText load_strided_part();
OpText iload_four_columns();  // where a vec is a register of the same bits
OpText fma_unless();
std::vector<OpText> integer_loads(const char* strided);  // by the text of iload_strided
std::vector<OpText> integer_ops();  // by the compilers' vector operators
enum class Exponent { integer,    // add_exponent(p, nearest(..))
                      real,       // scale2(p, n)
                      eighths };  // as integer, but exp2_near by power_of_eighths(..)
std::vector<OpText> exponentials(Exponent, bool fused);
// The bits of 2^(j / 8) less j << 20, in two lines: the table of power_of_eighths.
inline std::string eighths() { return "0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,\n      0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7"; }

// exp2_near by fraction and scale2, where the CPU has these for every argument.
OpText exp2_near_by_fraction();

// Every op for a number of lanes in the compilers' vector extensions; fma is fused or as the CPU has it.
std::vector<OpText> vector_extensions(int lanes, bool fused, Exponent);

// Concatenates tables and fills in `needs`: an op needs each op whose name occurs in its code.
std::vector<OpText> table(std::initializer_list<std::vector<OpText>> parts);

}  // namespace attune
