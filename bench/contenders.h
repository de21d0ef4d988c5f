// Who takes part in a benchmark of one spec: naive code and the kernel of each ISA, compiled,
// loaded and verified, and the fastest of them on several cores.
#pragma once
#include <attune/threads/pool.h>

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/host/inputs.h"
#include "cli/host/kernel.h"
#include "cli/host/process.h"

namespace attune::bench {

enum class Role { naive_textbook,
                  naive_vectorisable,
                  kernel,
                  kernel_native };  // the portable one with all instructions of this machine

struct Sample {
  double seconds = 0;    // of one call, mean over the repetition
  double peak = 0;       // FLOP/s, the higher of before and after, times the cores
  double times_one = 0;  // the same kernel's seconds on one core, just before, / these; 0 if that was not asked
};

struct Contender {
  std::string name;
  Role role = Role::kernel;
  std::string isa;                 // whose peak it is measured by
  std::function<void()> run;       // what is timed
  int cores = 1;                   // that a run keeps busy
  int calls = 1;                   // of a run, side by side: then they are independent copies
  std::optional<std::size_t> one;  // who runs the same kernel on one core, if that is to be compared
  host::Deviation deviation;
  double seconds = 0;  // of a run, a first estimate
  int repetitions = 0;
  long iterations = 1;
  std::vector<Sample> samples;  // one a repetition
};

struct Field {
  std::vector<Contender> contenders;
  std::vector<std::string> failures;  // who could not take part, and why
};

enum class Who { everybody,
                 kernels };  // on usual data and one core alone, without naive code

// Compiles into `folder`, which must outlive the field, as must the pool.
Field assemble(const Subject&, Who, const host::TemporaryFolder& folder, ThreadPool&, const std::function<void(const std::string&)>& progress);

}  // namespace attune::bench
