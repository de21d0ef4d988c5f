// Threads that wait on cores of their own, for kernels on several workers and several kernels at once.
#pragma once
#include <atomic>
#include <functional>
#include <thread>
#include <vector>

namespace attune::bench {

class Pool {
 public:
  // A worker on each of these CPUs; the first is the calling thread, which stays where it is.
  explicit Pool(const std::vector<int>& cpus);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;
  int workers() const { return int(threads_.size()) + 1; }

  // f(worker) on every worker at once; returns when all are done. f may not throw.
  void on_each(const std::function<void(int worker)>& f);

  // A generated kernel's NAME_parallel_for, with the pool as ctx: items in their order, each to the
  // worker that is free first.
  static void parallel_for(void* pool, long items, void (*body)(void* state, long item, int worker), void* state);

 private:
  void work(int worker);
  const std::function<void(int)>* job_ = nullptr;  // null: there will be none
  std::atomic<unsigned> round_{0};                 // of jobs; counts up when job_ is new
  std::atomic<int> busy_{0};                       // threads that are not done with it
  std::vector<std::thread> threads_;
};

}  // namespace attune::bench
