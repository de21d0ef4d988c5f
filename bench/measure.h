// Timing, by Google Benchmark: contenders in random turns, the peak around every repetition.
#pragma once
#include <sched.h>

#include <string>
#include <vector>

#include "bench/contenders.h"

namespace attune::bench {

// What a person asks of a measurement, from its samples.
struct Summary {
  double median_seconds = 0;
  double best_percent = 0;    // FLOPs / (least time x highest peak of the run)
  double median_percent = 0;  // median over repetitions of the ratio to the peak around each
};
Summary summarise(const Contender&, double flops);

double median(std::vector<double>);  // 0 of none

// Of one call.
double seconds_of(const host::Kernel&, const host::Arguments&);

// Pins the calling thread to the CPU that it runs on, while it lives; threads that it starts are pinned too.
class Pinned {
 public:
  Pinned();
  ~Pinned();
  Pinned(const Pinned&) = delete;
  Pinned& operator=(const Pinned&) = delete;

 private:
  cpu_set_t before_;
};

// Collects the runs of every subject, for the JSON at the end.
class Recorder {
 public:
  Recorder();
  ~Recorder();
  // Times the contenders of one subject and fills in their samples.
  void measure(const Subject&, std::vector<Contender>&, double flops);
  // Throws Error if the file can't be written.
  void write_json(const std::string& path) const;

 private:
  struct Runs;
  std::unique_ptr<Runs> runs_;
};

}  // namespace attune::bench
