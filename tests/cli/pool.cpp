// The threads that `attune bench --workers` hands work to.
#include <catch2/catch.hpp>
#include <algorithm>
#include <atomic>
#include <set>
#include <vector>

#include "bench/cores.h"
#include "bench/pool.h"

using namespace attune::bench;

namespace {
struct Item {
  std::atomic<int> runs{0}, worker{-1};
};
void note(void* state, long item, int worker) {
  Item& i = static_cast<Item*>(state)[item];
  ++i.runs;
  i.worker = worker;
}
}  // namespace

TEST_CASE("A pool runs every item once, on its workers", "[cli]") {
  const std::vector<int> cpus = cores();
  for (const int workers : {1, 2, 3}) {
    std::vector<int> on;  // some share a CPU if there are not enough
    for (int w = 0; w < workers; ++w) on.push_back(cpus[std::size_t(w) % cpus.size()]);
    Pool pool(on);
    CHECK(pool.workers() == workers);
    for (long items : {0, 1, 2, 7, 100}) {
      std::vector<Item> all(std::size_t(items) + 1);
      Pool::parallel_for(&pool, items, note, all.data());
      CHECK(std::all_of(all.begin(), all.end() - 1, [&](const Item& i) { return i.runs == 1 && i.worker >= 0 && i.worker < workers; }));
      CHECK(all.back().runs == 0);
    }
  }
}

TEST_CASE("Workers run at the same time, each on its core", "[cli]") {
  const std::vector<int> cpus = cores();
  CHECK(std::set<int>(cpus.begin(), cpus.end()).size() == cpus.size());
  if (cpus.size() < 2) return;
  const Pinned pinned(cpus[0]);
  CHECK(cores() == std::vector<int>{cpus[0]});
  Pool pool({cpus[0], cpus[1]});
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
