// What was measured of machines, and schedules that were measured to be good on them, in a file that
// outlives the measurement: JSON, a version and a list of each. gen, check, bench, explain and verdict read it,
// tune writes it.
#pragma once
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "lower.h"

namespace attune::cli {

struct WisdomEntry {
  std::string graph;     // graph_hash
  std::string spec;      // for people
  std::string isa, cpu;  // cpu: vendor-family-model-stepping
  std::map<std::string, Choice> schedule;  // by the region's title
  double median_percent = 0;               // of FMA peak, of the whole call
  int rounds = 0;
  std::string compiler;
};

struct WisdomMachine {
  std::string isa, cpu;
  Machine machine;
};

class Wisdom {
 public:
  // What the file holds; nothing if there is none. Throws Error if it is no wisdom of this version.
  explicit Wisdom(std::string path);
  // The entry of this graph and ISA: of the CPU, else the best of another's.
  const WisdomEntry* find(const std::string& graph, const std::string& isa, const std::string& cpu) const;
  // Keeps the entry unless there is one of the same graph, ISA, CPU and compiler that decides more
  // regions, or as many and is faster; then writes the file, joined with what others wrote to it meanwhile. Throws Error.
  void add(const WisdomEntry&);
  // The machine as an ISA sees it: of this CPU, else the first of another's.
  const WisdomMachine* machine(const std::string& isa, const std::string& cpu) const;
  // Keeps it in the place of what there is of the same CPU and ISA, and writes the file. Throws Error.
  void add(const WisdomMachine&);
  // For GenerateOptions: what is known about the graph, and of machines, on each of the ISAs.
  std::map<std::string, Choices> schedules(const Graph&, const std::vector<std::string>& isas) const;
  Machines machines(const std::vector<std::string>& isas) const;

 private:
  std::string path_;
  std::vector<WisdomMachine> machines_;
  std::vector<WisdomEntry> entries_;
  void read();
  void merge(const WisdomEntry&);
  void merge(const WisdomMachine&);
  template <class Known>
  void write_with(const Known&);
};

// The regions that an entry decides.
Choices choices_of(const WisdomEntry&, const std::vector<Decision>&);

// vendor-family-model-stepping of this machine's CPU.
std::string cpu_id();
// Name and version of the host compiler.
std::string compiler_id();

}  // namespace attune::cli
