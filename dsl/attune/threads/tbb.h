// A kernel's parallel_for by oneTBB. C++17; link with -ltbb.
//
//   attune::Tbb threads;  // as many as oneTBB takes by itself, or threads(4)
//   my_attention(&args, packed, workspace, threads.workers(), threads.parallel_for, &threads);
#pragma once
#include <tbb/parallel_for.h>
#include <tbb/task_arena.h>

namespace attune {

class Tbb {
 public:
  explicit Tbb(int workers = tbb::task_arena::automatic) : arena_(workers) {}
  int workers() const { return arena_.max_concurrency(); }

  // Each item a task of the arena, whose slots number the workers; `self` is the Tbb.
  static void parallel_for(void* self, long items, void (*body)(void* state, long item, int worker), void* state) {
    static_cast<Tbb*>(self)->arena_.execute([&] {
      tbb::parallel_for(0L, items, [&](long i) { body(state, i, tbb::this_task_arena::current_thread_index()); });
    });
  }

 private:
  tbb::task_arena arena_;
};

}  // namespace attune
