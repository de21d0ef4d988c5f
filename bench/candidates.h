// Schedules of one spec on one ISA, measured in situ: whole kernels, compiled, checked, and timed in
// turns in one process and in the same memory.
#pragma once
#include <functional>
#include <memory>
#include <random>
#include <string>
#include <vector>

#include "bench/bench.h"
#include "cli/host/inputs.h"
#include "cli/host/kernel.h"
#include "cli/host/process.h"

namespace attune::bench {

struct Measured {
  Choices choices;
  double time = 0;            // median over rounds of the time against that of the first that runs
  double median_percent = 0;  // of FMA peak
  int rounds = 0;
  std::string failure;  // why it did not take part; then the rest is 0
};

class Arena {
 public:
  // Runs the interpreter once. `progress(done, all, what)` is told of everything that takes long.
  using Progress = std::function<void(std::size_t done, std::size_t all, const std::string& what)>;
  Arena(const Subject&, std::string isa, Progress);
  ~Arena();
  // Each of them by `rounds` rounds; those that fall far behind stop early if `race`, but for the first,
  // which is the yardstick. What does not compile or gives a wrong result comes back with its failure.
  std::vector<Measured> measure(const std::vector<Choices>&, int rounds, bool race);

 private:
  struct Entrant;
  const Subject& subject_;
  std::string isa_;
  Progress progress_;
  host::TemporaryFolder folder_;
  Interface interface_;
  double flops_;
  host::Case inputs_;
  std::unique_ptr<host::Arguments> arguments_;
  std::shared_ptr<host::Memory> memory_;  // of whose turn it is
  std::vector<Array> expected_;
  std::mt19937 random_{1};
  int count_ = 0;
  void compile(std::vector<Entrant>&, std::size_t at);
  void enter(Entrant&);
  void round(std::vector<Entrant*>&);
};

}  // namespace attune::bench
