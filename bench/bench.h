// Generated kernels against naive code and against the machine's FMA peak.
#pragma once
#include <attune/graph.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

#include "lower.h"

namespace attune::bench {

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

}  // namespace attune::bench
