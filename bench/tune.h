// The best schedule of a spec by measurement, region by region.
#pragma once
#include "bench/candidates.h"

namespace attune::bench {

struct Tuning {
  Choices choices;                       // the best so far
  std::vector<std::string> tuned;        // regions that are decided, by title
  double median_percent = 0;             // of FMA peak, of the whole call
  double gain = 1;                       // how many times as fast as the model's first
  int rounds = 0;
  std::vector<std::string> failures;     // candidates that did not compile or gave wrong results
};

struct TuneOptions {
  int candidates = 24;  // a region
  int rounds = 40;
};

// Continues from `start`, whose tuned regions are left as they are. `decided` is called whenever a
// region is. A region's candidates are the first by the model and some that differ most from them.
Tuning tune(const Subject&, const std::string& isa, Tuning start, const TuneOptions&, const Arena::Progress&, const std::function<void(const Tuning&)>& decided);

}  // namespace attune::bench
