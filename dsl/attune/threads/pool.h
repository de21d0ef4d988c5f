// A kernel's parallel_for on threads of the standard library. C++17; link with -pthread.
//
//   attune::ThreadPool pool(4);  // make it once: its threads wait for the next call
//   my_attention(&args, packed, workspace, pool.workers(), pool.parallel_for, &pool);
#pragma once
#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <vector>

namespace attune {

class ThreadPool {
 public:
  // So many workers, by default one for each hardware thread. The first is the calling thread; the
  // others call on_start(worker) first, as to bind themselves to a CPU. Throws std::system_error.
  explicit ThreadPool(int workers = int(std::thread::hardware_concurrency()), const std::function<void(int worker)>& on_start = {}) {
    try {
      for (int w = 1; w < workers; ++w)
        threads_.emplace_back([this, w, on_start] {
          if (on_start) on_start(w);
          work(w);
        });
    } catch (...) {
      stop();
      throw;
    }
  }
  ~ThreadPool() { stop(); }
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;
  int workers() const { return int(threads_.size()) + 1; }

  // A kernel's NAME_parallel_for, with the pool as ctx: items in their order, each to the worker that
  // is free first.
  static void parallel_for(void* pool, long items, void (*body)(void* state, long item, int worker), void* state) {
    std::atomic<long> next{0};
    static_cast<ThreadPool*>(pool)->on_each([&](int worker) {
      for (long i; (i = next++) < items;) body(state, i, worker);
    });
  }

  // f(worker) on every worker at once; returns when all are done. Several threads may call it, one is
  // served at a time. f may not throw, nor call the pool.
  void on_each(const std::function<void(int worker)>& f) {
    const std::lock_guard<std::mutex> one_at_a_time(callers_);
    busy_ = int(threads_.size());
    start(&f);
    f(0);
    const auto begin = Clock::now();
    while (busy_ > 0) rest(begin);
  }

 private:
  using Clock = std::chrono::steady_clock;
  // From one job to the next a thread stays awake, since waking it takes as long as a small kernel.
  // Beyond that it sleeps, so that others have the machine to themselves.
  static constexpr std::chrono::milliseconds awake{1};

  static void rest(Clock::time_point begin) {
    if (Clock::now() - begin > awake) return std::this_thread::yield();  // who is waited for may want this core
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#endif
  }
  void start(const std::function<void(int)>* job) {
    {
      const std::lock_guard<std::mutex> lock(sleep_);
      job_ = job;
      ++round_;
    }
    wake_.notify_all();
  }
  void stop() {
    start(nullptr);
    for (std::thread& t : threads_) t.join();
  }
  void work(int worker) {
    for (unsigned seen = 0;; ++seen) {
      const auto begin = Clock::now();
      while (round_ == seen && Clock::now() - begin < awake) rest(begin);
      if (round_ == seen) {
        std::unique_lock<std::mutex> lock(sleep_);
        wake_.wait(lock, [&] { return round_ != seen; });
      }
      if (!job_) return;
      (*job_)(worker);
      --busy_;
    }
  }

  std::mutex callers_, sleep_;
  std::condition_variable wake_;
  const std::function<void(int)>* job_ = nullptr;  // null: there will be none
  std::atomic<unsigned> round_{0};                 // of jobs; counts up when job_ is new
  std::atomic<int> busy_{0};                       // threads that are not done with it
  std::vector<std::thread> threads_;
};

}  // namespace attune
