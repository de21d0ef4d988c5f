// Timing, by Google Benchmark: contenders in random turns, the peak around every repetition.
#pragma once
#include <chrono>
#include <string>
#include <utility>
#include <vector>

#include "bench/contenders.h"

namespace attune::bench {

// What a person asks of a measurement, from its samples.
struct Summary {
  double median_seconds = 0;
  double best_percent = 0;    // FLOPs / (least time x highest peak of the run)
  double median_percent = 0;  // median over repetitions of the ratio to the peak around each
  double times_one[3] = {};   // quartiles of the ratio to one core, if that was asked
};
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
