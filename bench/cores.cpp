#include "bench/cores.h"

#include <fmt/format.h>

#include <algorithm>
#include <fstream>
#include <set>

namespace attune::bench {

namespace {
// The first CPU of the core that `cpu` is a hardware thread of.
int core_of(int cpu) {
  std::ifstream siblings(fmt::format("/sys/devices/system/cpu/cpu{}/topology/thread_siblings_list", cpu));
  int first = 0;
  return siblings >> first ? first : cpu;
}
}  // namespace

std::vector<int> cores() {
  cpu_set_t allowed;
  CPU_ZERO(&allowed);
  sched_getaffinity(0, sizeof allowed, &allowed);
  const int here = std::max(0, sched_getcpu());
  std::vector<int> cpus{here};
  std::set<int> taken{core_of(here)};
  for (int cpu = 0; cpu < CPU_SETSIZE; ++cpu)
    if (CPU_ISSET(cpu, &allowed) && taken.insert(core_of(cpu)).second) cpus.push_back(cpu);
  return cpus;
}

void bind_to(int cpu) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}

Pinned::Pinned(int cpu) {
  sched_getaffinity(0, sizeof before_, &before_);
  bind_to(cpu);
}
Pinned::~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

}  // namespace attune::bench
