// The best schedule of a spec by measurement, region by region.
#pragma once
#include "bench/candidates.h"

namespace attune::bench {

struct Tuning {
  Choices choices;                       // the best so far, of the regions that are decided
  double median_percent = 0;             // of FMA peak, of the whole call
  double gain = 0;                       // how many times as fast as with the model's first for the regions measured now; 0: none was
  int rounds = 0;
  std::vector<std::string> failures;     // candidates that did not compile or gave wrong results
};

struct TuneOptions {
  int candidates = 24;  // a region
  int rounds = 40;
};

// Continues from `start`, whose decided regions are left as they are. `decided` is called whenever a
// region is. A region's candidates are the model's first, and some of those that it puts within a tenth.
Tuning tune(const Subject&, const std::string& isa, Tuning start, const TuneOptions&, const Arena::Progress&, const std::function<void(const Tuning&)>& decided);

}  // namespace attune::bench
