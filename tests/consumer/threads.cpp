// An adapter of <attune/threads/>: every item once, by a worker that does nothing else meanwhile.
#include <atomic>
#include <cstdio>
#include <memory>
#include <vector>
#include ADAPTER

struct Work {
  std::vector<std::atomic<int>> runs, busy;
  std::atomic<bool> wrong{false};
  Work(long items, int workers) : runs(std::size_t(items)), busy(std::size_t(workers)) {}
};

static void body(void* state, long item, int worker) {
  Work& w = *static_cast<Work*>(state);
  if (item < 0 || item >= long(w.runs.size()) || worker < 0 || worker >= int(w.busy.size()) || ++w.busy[std::size_t(worker)] != 1) {
    w.wrong = true;
    return;
  }
  for (volatile int spin = 0; spin < 1000; spin = spin + 1) {
  }
  ++w.runs[std::size_t(item)];
  --w.busy[std::size_t(worker)];
}

int main() {
  int failed = 0;
  for (int workers = 0; workers <= 5; ++workers) {
    const auto threads = workers ? std::unique_ptr<THREADS>(new THREADS{workers}) : std::unique_ptr<THREADS>(new THREADS{});
    if (workers && threads->workers() != workers) std::printf("FAILED: %d workers, not %d\n", threads->workers(), workers), ++failed;
    for (long items : {0, 1, 2, 7, 1000}) {
      Work w(items, threads->workers());
      threads->parallel_for(threads.get(), items, body, &w);
      bool once = !w.wrong;
      for (const std::atomic<int>& runs : w.runs) once = once && runs == 1;
      if (!once) std::printf("FAILED: %ld items on %d workers\n", items, threads->workers()), ++failed;
    }
  }
  if (!failed) std::printf("ok\n");
  return failed ? 1 : 0;
}
