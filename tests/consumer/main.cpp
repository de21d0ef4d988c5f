// Queries of zeros weigh all keys alike, so that a row is the mean of the values it may see:
//   main TOKENS    how many that are, for the first kernel
#include <attune/threads/pool.h>
#ifdef _OPENMP
  #include <attune/threads/openmp.h>
#endif
#include <algorithm>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <memory>
#include <vector>

#include "average.hpp"
#include "nearby.hpp"
using namespace attune::literals;

constexpr int heads = 2, seq = 24, dim = 8;

struct Free {
  void operator()(void* p) const { std::free(p); }
};
using Workspace = std::unique_ptr<void, Free>;
static Workspace aligned(std::size_t bytes) { return Workspace(std::aligned_alloc(64, (bytes + 127) / 64 * 64)); }

// Token t of head h is t + 100 h in every feature: the mean over [first, last] is the middle.
static float value(int h, double t) { return float(t + 100 * h); }

template <class Seen>
static bool right(const char* what, const std::vector<float>& out, const Seen& first_and_last) {
  double error = 0;
  for (int h = 0; h < heads; ++h)
    for (int t = 0; t < seq; ++t)
      for (int d = 0; d < dim; ++d) {
        const auto [first, last] = first_and_last(t);
        error = std::max(error, std::abs(double(out[std::size_t((h * seq + t) * dim + d)]) - double(value(h, (first + last) / 2.0))));
      }
  std::printf("%s: greatest error %.1e\n", what, error);
  return error < 1e-4;
}

template <class Threads>
static bool run(const char* by, Threads&& threads, int tokens) {
  const std::vector<float> q(heads * seq * dim, 0.0f);
  std::vector<float> v(q.size()), near(q.size(), -1.0f), all(q.size(), -1.0f);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = value(int(i) / (seq * dim), double(int(i) / dim % seq));
  const std::size_t bytes = std::max(nearby_workspace_bytes(threads.workers()), average_workspace_bytes(threads.workers()));
  const Workspace workspace = aligned(bytes);
  std::printf("%s, %d workers\n", by, threads.workers());
  const int code = attune::call(nearby_checked, {nullptr, workspace.get(), bytes, threads.workers(), threads.parallel_for, &threads}, "v"_a = v.data(), "q"_a = q.data(), "out"_a = near.data());
  attune::call(average, {nullptr, workspace.get(), threads.workers(), threads.parallel_for, &threads}, "q"_a = q.data(), "v"_a = v.data(), "out"_a = all.data());
  return code == nearby_ok && right("nearby", near, [&](int t) { return std::pair(std::max(0, t - tokens + 1), t); }) && right("average", all, [](int) { return std::pair(0, seq - 1); });
}

int main(int, char** argv) {
  const int tokens = std::atoi(argv[1]);
  bool ok = run("pool", attune::ThreadPool(), tokens) && run("pool", attune::ThreadPool(3), tokens);
#ifdef _OPENMP
  ok = ok && run("OpenMP", attune::OpenMp(), tokens) && run("OpenMP", attune::OpenMp{3}, tokens);
#endif
  return ok ? 0 : 1;
}
