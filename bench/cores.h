// Where threads run while something is measured.
#pragma once
#include <sched.h>

#include <vector>

namespace attune::bench {

// One CPU of each core that the calling thread may run on, first the one that it runs on: a core's
// hardware threads share its multiply-adds, so that two of them are no two workers.
std::vector<int> cores();

// Binds the calling thread to one CPU; threads and processes that it starts inherit that.
void bind_to(int cpu);

// Binds the calling thread to the CPU while it lives.
class Pinned {
 public:
  explicit Pinned(int cpu);
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
};

}  // namespace attune::bench
