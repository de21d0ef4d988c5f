// As in peak.cpp, loops are written in assembly, so that no compiler can spill or fold them.
#include "bench/machine.h"

#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <vector>

#include "bench/cores.h"
#include "bench/measure.h"
#include "cli/host/kernel.h"
#include "isa/isa.h"

namespace attune::bench {

namespace {

// What a trip repeats `count` times; p is where it reads.
struct Loop {
  void (*run)(long trips, const float* p) = nullptr;
  double count = 0;
};
struct Loops {
  Loop fma;                // independent multiply-adds of vectors
  Loop latency;            // each waiting for the one before
  Loop loads, broadcasts;  // beside as many multiply-adds
  Loop stream;             // bytes, loaded in sequence
  Loop cycle;              // additions of integers, each waiting for the one before, so one a cycle; beside multiply-adds, for which the clock may slow down
};

#if defined(__x86_64__)
  #define ATTUNE_CLOBBERS "xmm0", "xmm1", "xmm2", "xmm3", "xmm4", "xmm5", "xmm6", "xmm7", "xmm8", "xmm9", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "rax", "cc", "memory"
  // `body` twelve times a trip, with r from 0 to 11.
  #define ATTUNE_LOOP(zero, body, end, leave)                                                                                         \
    [](long trips, const float* p) {                                                                                                  \
      asm volatile(".irp r,0,1,2,3,4,5,6,7,8,9,10,11,12,13\n" zero "\n.endr\n.p2align 6\n1:\n.irp r,0,1,2,3,4,5,6,7,8,9,10,11\n" body \
                   "\n.endr\n" end "dec %0\njnz 1b\n" leave                                                                           \
                   : "+r"(trips), "+r"(p)                                                                                             \
                   :                                                                                                                  \
                   : ATTUNE_CLOBBERS);                                                                                                \
    }
  #define ATTUNE_WIDE(body, end) ATTUNE_LOOP("vxorps %%xmm\\r, %%xmm\\r, %%xmm\\r", body, end, "vzeroupper\n")
  #define ATTUNE_FMA(reg) "vfmadd231ps %%" reg "13, %%" reg "12, %%" reg "\\r\n"
  #define ATTUNE_LOOPS(reg, bytes)                                                                              \
    Loops {                                                                                                     \
      Loop{ATTUNE_WIDE(ATTUNE_FMA(reg), ""), 12},                                                               \
          Loop{ATTUNE_WIDE("vfmadd231ps %%" reg "13, %%" reg "12, %%" reg "0", ""), 12},                        \
          Loop{ATTUNE_WIDE(ATTUNE_FMA(reg) "vmovups " #bytes "*\\r(%1), %%" reg "14", ""), 12},                 \
          Loop{ATTUNE_WIDE(ATTUNE_FMA(reg) "vbroadcastss 4*\\r(%1), %%" reg "14", ""), 12},                     \
          Loop{ATTUNE_WIDE("vmovups " #bytes "*\\r(%1), %%" reg "14", "add $12*" #bytes ", %1\n"), 12 * bytes}, \
          Loop{ATTUNE_WIDE(ATTUNE_FMA(reg) "add %%rax, %%rax", ""), 12},                                        \
    }
  // Of pairs of 128-bit registers: two multiplications and two additions are a multiply-add.
  #define ATTUNE_NARROW(body, end) ATTUNE_LOOP("xorps %%xmm\\r, %%xmm\\r", body, end, "")
  #define ATTUNE_PRODUCT "mulps %%xmm13, %%xmm\\r\naddps %%xmm12, %%xmm\\r"

Loops loops_of(const std::string& isa) {
  if (isa == "avx512") return ATTUNE_LOOPS("zmm", 64);
  if (isa == "avx2") return ATTUNE_LOOPS("ymm", 32);
  return {{ATTUNE_NARROW(ATTUNE_PRODUCT, ""), 6},
          {ATTUNE_NARROW("addps %%xmm12, %%xmm0", ""), 12},
          {ATTUNE_NARROW(ATTUNE_PRODUCT "\nmovups 16*\\r(%1), %%xmm14", ""), 6},
          {ATTUNE_NARROW(ATTUNE_PRODUCT "\nmovss 4*\\r(%1), %%xmm14\nshufps $0, %%xmm14, %%xmm14", ""), 12},
          {ATTUNE_NARROW("movups 16*\\r(%1), %%xmm14", "add $12*16, %1\n"), 12 * 16},
          {ATTUNE_NARROW(ATTUNE_PRODUCT "\nadd %%rax, %%rax", ""), 12}};
}
#endif

// The medians over rounds of how long each takes, against the first.
class Race {
 public:
  void add(std::function<void()> what, double count) { entrants_.push_back({std::move(what), count, {}}); }
  void run(int rounds) {
    for (int r = 0; r < rounds; ++r)
      for (Entrant& e : entrants_) {
        const double before = seconds(entrants_[0]), here = seconds(e), after = seconds(entrants_[0]);
        if (std::abs(before - after) < 0.05 * before) e.ratios.push_back(2 * here / (before + after));
      }
  }
  // Of the nth; 0 if there was no quiet moment.
  double ratio(std::size_t n) const { return median(entrants_[n].ratios); }

 private:
  struct Entrant {
    std::function<void()> what;
    double count;
    std::vector<double> ratios;
  };
  std::vector<Entrant> entrants_;
  static double seconds(const Entrant& e) { return seconds_of(e.what) / e.count; }
};

long hundredths(double x) { return std::lround(100 * x); }

}  // namespace

Machine measure_machine(const std::string& isa) {
  Machine m = attune::isa(isa).machine;
  if (const long bytes = sysconf(_SC_LEVEL1_DCACHE_SIZE); bytes > 0) m.l1_bytes = bytes;
  if (const long bytes = sysconf(_SC_LEVEL2_CACHE_SIZE); bytes > 0) m.l2_bytes = bytes;
#if defined(__x86_64__)
  const Pinned pinned(cores().front());
  const Loops loops = loops_of(isa);
  const long near = std::min(std::max(4 * m.l1_bytes, m.l2_bytes / 4), m.l2_bytes / 2), far = std::max(4 * m.l2_bytes, 8L << 20);
  const host::Buffer buffer(std::size_t(far / 4), host::Place::on_huge_page);
  const float* const p = buffer.data();
  const long trips = 40000;  // some 60 us of multiply-adds: enough to settle the clock, short enough to fit between two interruptions
  Race race;
  const auto again = [&](const Loop& l, long n) { race.add([&l, n, p] { l.run(n, p); }, l.count * double(n)); };
  again(loops.fma, trips);
  again(loops.cycle, trips);
  again(loops.latency, trips / 4);
  again(loops.loads, trips);
  again(loops.broadcasts, trips);
  const auto stream = [&](long bytes, long passes) {  // of which the first finds nothing in L2
    const long n = bytes / long(loops.stream.count);
    race.add([&loops, n, p, passes] { for (long i = 0; i < passes; ++i) loops.stream.run(n, p); }, loops.stream.count * double(n * passes));
  };
  stream(near, 32);
  stream(far, 1);
  // Lines too far from each other for hardware to see a stream, each asked for once.
  const long line = 16, lines = far / 64, apart = 67;
  race.add([p, lines] { for (long i = 0; i < lines; ++i) asm volatile("prefetcht1 %0" : : "m"(p[line * (i * apart % lines)])); }, 64.0 * double(lines));
  race.run(31);

  // Of multiply-adds each; a cycle is known by the additions.
  const double cycle = race.ratio(1);
  const auto keep = [&](long& field, std::size_t n, auto value) {
    if (cycle > 0 && race.ratio(n) > 0) field = hundredths(value(race.ratio(n)));
  };
  const auto per_cycle = [&](double ratio) { return cycle / ratio; };
  keep(m.fma, 0, per_cycle);
  keep(m.fma_latency, 2, [&](double ratio) { return ratio / cycle; });
  keep(m.loads, 3, per_cycle);
  keep(m.broadcasts, 4, per_cycle);
  keep(m.l2_rate, 5, per_cycle);
  keep(m.memory_rate, 6, per_cycle);
  keep(m.asked_rate, 7, per_cycle);
#endif
  return m;
}

}  // namespace attune::bench
