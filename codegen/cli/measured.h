// What `explain --measure` sets beside the model's account: the whole kernel, timed on this machine.
#pragma once
#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/specs.h"
#include "lower.h"

namespace attune::cli {

// The model and the clock, of one call on one core. Cycles are those in which the machine's multiply-adds, measured
// beside each repetition, would be at the peak that the model assumes.
struct Measured {
  std::string isa;
  bool complete = true;          // the model knows every region
  double predicted_cycles = 0, best_cycles = 0, median_cycles = 0;
  double predicted_seconds = 0;  // at the clock of the median repetition
  double predicted_percent = 0;  // of the FMA peak
  bench::Figures figures;
};

// The ISAs that this CPU has, of those decided; the rest is named in `lacking`. Builds, verifies and times the kernels;
// throws Error if one is wrong or there is no compiler.
std::vector<Measured> measured(const Spec&, const GenerateOptions&, const std::vector<Decided>&, std::vector<std::string>& lacking);

// As a table for a terminal; empty if nothing was measured.
std::string text_of(const std::vector<Measured>&);

}  // namespace attune::cli
