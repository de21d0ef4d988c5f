// What `explain --measure` sets beside the model's account: the whole kernel, timed on this machine.
#pragma once
#include <string>
#include <utility>
#include <vector>

#include "cli/specs.h"
#include "lower.h"

namespace attune::cli {

// The model and the clock, of one call on one core. Cycles are time by the clock at which the machine's FMA peak, as
// measured beside each repetition, is the model's; the model's seconds are its cycles at the clock of the median.
struct Measured {
  struct Figures {
    double cycles = 0, seconds = 0, percent = 0;  // of the FMA peak
  };
  std::string isa;
  bool complete = true;  // the model knows every region
  Figures predicted, best, median;
  int repetitions = 0;

  // The three by names for people.
  std::vector<std::pair<std::string, Figures>> rows() const;
};

// The ISAs that this CPU has, of those decided; the rest is named in `lacking`. Builds, verifies and times the kernels
// as bench does; throws Error if one is wrong or there is no compiler.
std::vector<Measured> measured(const Spec&, const GenerateOptions&, const std::vector<Decided>&, std::vector<std::string>& lacking);

// As a table for a terminal; empty if nothing was measured.
std::string text_of(const std::vector<Measured>&);

}  // namespace attune::cli
