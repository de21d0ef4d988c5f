#include "bench/pool.h"

#include <chrono>

#include "bench/cores.h"

namespace attune::bench {

namespace {
// From one job to the next a thread stays awake, since waking it takes as long as a small kernel. Beyond
// that it sleeps, so that what other contenders run on one core has the machine to itself.
constexpr std::chrono::milliseconds awake{1};

void pause() {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#endif
}
}  // namespace

Pool::Pool(const std::vector<int>& cpus) {
  for (std::size_t w = 1; w < cpus.size(); ++w)
    threads_.emplace_back([this, w, cpu = cpus[w]] {
      bind_to(cpu);
      work(int(w));
    });
}

Pool::~Pool() {
  job_ = nullptr;
  ++round_;
  round_.notify_all();
  for (std::thread& t : threads_) t.join();
}

void Pool::work(int worker) {
  for (unsigned seen = 0;; ++seen) {
    const auto begin = std::chrono::steady_clock::now();
    while (round_ == seen && std::chrono::steady_clock::now() - begin < awake) pause();
    round_.wait(seen);
    if (!job_) return;
    (*job_)(worker);
    --busy_;
  }
}

void Pool::on_each(const std::function<void(int)>& f) {
  job_ = &f;
  busy_ = int(threads_.size());
  ++round_;
  round_.notify_all();
  f(0);
  while (busy_ > 0) pause();
}

void Pool::parallel_for(void* pool, long items, void (*body)(void* state, long item, int worker), void* state) {
  std::atomic<long> next{0};
  static_cast<Pool*>(pool)->on_each([&](int worker) {
    for (long i; (i = next++) < items;) body(state, i, worker);
  });
}

}  // namespace attune::bench
