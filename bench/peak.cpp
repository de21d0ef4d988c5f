// Each loop below runs twelve chains of dependent operations, more than latency times throughput
// of any current core, written in assembly so that no compiler can spill or fold them.
#include "bench/peak.h"

#include <chrono>

namespace attune::bench {

namespace {
// FLOPs of one trip round each loop.
constexpr double chains = 12;

#if defined(__x86_64__)
constexpr float one = 1.0f;

  #define ATTUNE_CLOBBERS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "cc"
  #define ATTUNE_FMA_LOOP(reg)                                                                      \
    asm volatile("vbroadcastss %1, %%" reg "12\n vbroadcastss %1, %%" reg                           \
                 "13\n"                                                                             \
                 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vxorps %%xmm\\r, %%xmm\\r, %%xmm\\r\n .endr\n" \
                 ".p2align 5\n 1:\n"                                                                \
                 ".rept 2\n"                                                                        \
                 ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n vfmadd231ps %%" reg "13, %%" reg "12, %%" reg  \
                 "\\r\n .endr\n"                                                                    \
                 ".endr\n"                                                                          \
                 "dec %0\n jnz 1b\n vzeroupper\n"                                                   \
                 : "+r"(trips)                                                                      \
                 : "m"(one)                                                                         \
                 : ATTUNE_CLOBBERS)

double avx512(long trips) {
  const double flops = 2 * chains * 2 * 16 * double(trips);
  ATTUNE_FMA_LOOP("zmm");
  return flops;
}
double avx2(long trips) {
  const double flops = 2 * chains * 2 * 8 * double(trips);
  ATTUNE_FMA_LOOP("ymm");
  return flops;
}
double baseline(long trips) {
  const double flops = 2 * chains * 4 * double(trips);
  asm volatile(
      "movss %1, %%xmm12\n shufps $0, %%xmm12, %%xmm12\n"
      ".irp r,0,1,2,3,4,5,6,7,8,9,10,11\n xorps %%xmm\\r, %%xmm\\r\n .endr\n"
      ".p2align 5\n 1:\n"
      ".rept 2\n"
      ".irp r,0,1,2,3,4,5\n mulps %%xmm12, %%xmm\\r\n .endr\n"
      ".irp r,6,7,8,9,10,11\n addps %%xmm12, %%xmm\\r\n .endr\n"
      ".endr\n"
      "dec %0\n jnz 1b\n"
      : "+r"(trips)
      : "m"(one)
      : ATTUNE_CLOBBERS);
  return flops;
}
#else
double baseline(long trips) {
  using vec = float __attribute__((vector_size(16)));
  vec x[12] = {}, m = {1, 1, 1, 1};
  for (long t = 0; t < trips; ++t) {
    for (vec& v : x) v = v * m + m;
    asm volatile(""
                 : "+m"(x));
  }
  return chains * 2 * 4 * double(trips);
}
#endif

template <class Loop>
double rate(Loop loop) {
  using clock = std::chrono::steady_clock;
  double best = 0;
  for (int i = 0; i < 2; ++i) {  // the first wakes the wide units
    const auto begin = clock::now();
    const double flops = loop(20000);
    const double seconds = std::chrono::duration<double>(clock::now() - begin).count();
    best = flops / seconds > best ? flops / seconds : best;
  }
  return best;
}
}  // namespace

double peak_flops(const std::string& isa) {
#if defined(__x86_64__)
  if (isa == "avx512") return rate(avx512);
  if (isa == "avx2") return rate(avx2);
#endif
  return rate(baseline);
}

}  // namespace attune::bench
