// Timing, by Google Benchmark: contenders in random turns, the peak around every repetition.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders.h"

namespace attune::bench {

// Of a contender whose samples are there; of none, zeros.
Summary summarise(const Contender&, double flops);

// Of the values in order, interpolated; 0 of none.
double quantile(std::vector<double>, double at);
inline double median(std::vector<double> v) { return quantile(std::move(v), 0.5); }

template <class F>
double seconds_of(const F& f) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  f();
  return std::chrono::duration<double>(clock::now() - begin).count();
}

// Collects the runs of every subject, for the JSON at the end.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  // Times the contenders of one subject and fills in their samples.
  void measure(const Subject&, std::vector<Contender>&, double flops);
  // Google Benchmark's.
  std::string json() const;

 private:
  struct Runs;
  std::unique_ptr<Runs> runs_;
};

}  // namespace attune::bench
