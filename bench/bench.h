// Generated kernels against naive code and against the machine's FMA peak.
#pragma once
#include <attune/graph.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lower.h"

namespace attune::bench {

// What a person asks of a measurement, from its samples.
struct Summary {
  double median_seconds = 0, best_seconds = 0;
  double best_percent = 0;    // FLOPs / (least time x highest peak of the run)
  double median_percent = 0;  // median over repetitions of the ratio to the peak around each
  double times_one[3] = {};   // quartiles of the ratio to one core, if that was asked
};

struct Subject {
  std::string expression;         // the spec
  std::string kernel;             // its C name
  std::vector<std::string> isas;  // those that this CPU lacks are left out
  Graph graph;
  std::map<std::string, Choices> schedules;  // by ISA; else the model's
  Machines machines = {};                    // against which it costs the rest
};

// Builds every contender of each subject, verifies it against the interpreter, times all of them in
// turns on one core, and the fastest kernel on `workers` cores too, and prints a table. Puts Google
// Benchmark's JSON into `json` unless it is null. Returns false if a contender's output is wrong or it
// does not compile. Throws Error, also if there are fewer cores.
bool run(const std::vector<Subject>&, int workers, std::string* json, const std::function<void(const std::string&)>& progress);

// Of the kernel of one ISA, on one core.
struct Figures {
  std::string isa;
  int repetitions = 0;
  Summary summary;
};

// Builds the kernels of the subject that this CPU can run, verifies them as `run` does and times them in turns; prints
// nothing. Throws Error if one is wrong or does not compile.
std::vector<Figures> kernels(const Subject&, const std::function<void(const std::string&)>& progress);

}  // namespace attune::bench
