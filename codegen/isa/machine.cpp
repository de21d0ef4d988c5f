#include "isa/machine.h"

#include <fmt/format.h>

namespace attune {

std::string text_of(const Machine& m) {
  const auto rate = [](long hundredths) { return double(hundredths) / 100; };
  return fmt::format("{:.2f} fma, {:.2f} loads or {:.2f} broadcasts a cycle, sums after {:.1f}; {} kB of L1, {} kB of L2 at {:.1f} bytes a cycle, beyond at {:.1f}, {:.1f} where asked for",
                     rate(m.fma), rate(m.loads), rate(m.broadcasts), rate(m.fma_latency), m.l1_bytes / 1024, m.l2_bytes / 1024, rate(m.l2_rate), rate(m.memory_rate), rate(m.asked_rate));
}

}  // namespace attune
