// Who takes part in a benchmark of one spec: naive code and the kernel of each ISA, compiled,
// loaded and verified.
#pragma once
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/host/inputs.h"
#include "cli/host/kernel.h"
#include "cli/host/process.h"

namespace attune::bench {

enum class Role { naive_textbook,
                  naive_vectorisable,
                  kernel };

struct Sample {
  double seconds = 0;  // of one call, mean over the repetition
  double peak = 0;     // FLOP/s, the higher of before and after
};

struct Contender {
  std::string name;
  Role role = Role::kernel;
  std::string isa;    // whose peak it is measured by
  std::shared_ptr<host::Kernel> kernel;
  std::unique_ptr<host::Arguments> arguments;
  host::Deviation deviation;
  double seconds = 0;  // a first estimate
  int repetitions = 0;
  long iterations = 1;
  std::vector<Sample> samples;  // one a repetition
};

struct Field {
  std::vector<Contender> contenders;
  std::vector<std::string> failures;  // who could not take part, and why
};

// Compiles into `folder`, which must outlive the field.
Field assemble(const Subject&, const host::TemporaryFolder& folder, const std::function<void(const std::string&)>& progress);

}  // namespace attune::bench
