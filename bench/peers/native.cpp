// C doors to what Python can't do itself.
#include <cstring>
#include <string>

#include "bench/peak.h"
#include "isa/isa.h"

extern "C" {

double peers_peak_flops(const char* isa) { return attune::bench::peak_flops(isa); }

// The ISA that a generated kernel picks on this CPU.
const char* peers_fastest_isa() {
  static const std::string name = attune::fastest_isa();
  return name.c_str();
}

// Reads `bytes` bytes once, in order.
long peers_read(const char* p, long bytes) {
  using lanes = long __attribute__((vector_size(64)));
  lanes sums[4] = {};
  for (long i = 0; i + 256 <= bytes; i += 256)
    for (int j = 0; j < 4; ++j) {
      lanes x;
      std::memcpy(&x, p + i + 64 * j, 64);
      sums[j] += x;
    }
  const lanes sum = sums[0] + sums[1] + sums[2] + sums[3];
  return sum[0] + sum[7];
}

void peers_nothing() {}
}
