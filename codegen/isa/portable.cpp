// The ISA for any CPU, and other ISAs' shapes on any CPU.
#include "isa/tables.h"

namespace attune {
namespace {

// Ops of which a file uses one overload alone are no fault of its author.
const char* const open = R"(#ifdef __clang__
  #pragma clang diagnostic push
  #pragma clang diagnostic ignored "-Wunused-function"
#endif
)";
const char* const close = R"(#ifdef __clang__
  #pragma clang diagnostic pop
#endif
)";

}  // namespace

// 8 lanes: measured on tiles of 6 x 2 and 4 x 3, as a pair of 4 they are as fast as 4 lanes at
// baseline x86-64, and twice as fast where the user's flags allow AVX2.
Isa portable_isa() {
  Isa isa;
  isa.name = "portable";
  isa.lanes = 8;
  isa.registers = 16;
  isa.machine = {1, 2, 4, 32 * 1024, 256 * 1024};
  isa.open = open;
  isa.close = close;
  isa.cpu_test = "1";
  isa.ops = vector_extensions(isa.lanes, false, Exponent::integer);
  return isa;
}

Isa emulated(const Isa& isa) {
  Isa out = isa;
  if (isa.name == "portable") return out;
  out.headers = "#if defined(__AVX2__) && defined(__FMA__)\n  #include <immintrin.h>\n#endif\n";
  out.open = open;
  out.close = close;
  out.cpu_test = "1";
  out.ops = vector_extensions(isa.lanes, true, isa.name == "avx512" ? Exponent::real : Exponent::integer);
  return out;
}

}  // namespace attune
