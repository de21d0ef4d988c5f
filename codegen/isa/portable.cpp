// The ISA for any CPU, and other ISAs' shapes on any CPU.
#include "isa/tables.h"

namespace attune {
// 8 lanes: measured on tiles of 6 x 2 and 4 x 3, as a pair of 4 they are 5-15% faster than 4 lanes
// at baseline x86-64, though its registers hold 8 such pairs, and twice as fast where the user's
// flags allow AVX2. Contraction is left on for the same reason.
Isa portable_isa() {
  Isa isa;
  isa.name = "portable";
  isa.lanes = 8;
  isa.registers = 16;
  // Baseline x86-64 with two units: a vector is a pair of registers, a multiply-add two instructions.
  isa.machine = {.fma = 50, .loads = 100, .broadcasts = 200, .fma_latency = 400, .l1_bytes = 32 * 1024, .l2_bytes = 256 * 1024, .l2_rate = 3200, .memory_rate = 800, .asked_rate = 600, .tile_cycles = 2000, .exponential = 900};
  const Pragmas around = pragmas("", true);
  isa.open = around.open;
  isa.close = around.close;
  isa.ops = vector_extensions(isa.lanes, false, Exponent::integer);
  return isa;
}

Isa emulated(const Isa& isa) {
  Isa out = isa;
  if (isa.name == "portable") return out;
  out.headers = "#if defined(__AVX2__) && defined(__FMA__)\n  #include <immintrin.h>\n#endif\n";
  const Pragmas around = pragmas("", false);
  out.open = around.open;
  out.close = around.close;
  out.cpu_test = {};
  out.assemble = nullptr;
  out.ops = vector_extensions(isa.lanes, true, isa.name == "avx512" ? Exponent::real : Exponent::eighths);
  return out;
}

}  // namespace attune
