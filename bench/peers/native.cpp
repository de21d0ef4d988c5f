// C doors to what Python can't do itself.
#include <cstring>

#include "bench/peak.h"

extern "C" {

double peers_peak_flops(const char* isa) { return attune::bench::peak_flops(isa); }

// The ISA that a generated kernel picks on this CPU.
const char* peers_fastest_isa() {
#if defined(__x86_64__)
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) return "avx512";
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return "avx2";
#endif
  return "portable";
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
