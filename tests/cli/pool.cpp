// The threads of <attune/threads/pool.h>, bound to cores as `attune bench --workers` does.
#include <attune/threads/pool.h>
#include <catch2/catch.hpp>

#include <atomic>
#include <set>
#include <vector>

#include "bench/cores.h"

using namespace attune;
using namespace attune::bench;

TEST_CASE("Workers run at the same time, each on its core", "[cli]") {
  const std::vector<int> cpus = cores();
  CHECK(std::set<int>(cpus.begin(), cpus.end()).size() == cpus.size());
  if (cpus.size() < 2) return;
  const Pinned pinned(cpus[0]);
  CHECK(cores() == std::vector<int>{cpus[0]});
  ThreadPool pool(2, [&](int w) { bind_to(cpus[std::size_t(w)]); });
  for (int again = 0; again < 20; ++again) {
    std::atomic<int> arrived{0};
    int on[2] = {-1, -1};
    pool.on_each([&](int worker) {
      on[worker] = sched_getcpu();
      ++arrived;
      while (arrived < 2) {
      }
    });
    CHECK(std::vector<int>{on[0], on[1]} == std::vector<int>{cpus[0], cpus[1]});
  }
}
