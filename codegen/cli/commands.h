// One file a subcommand. Each returns the exit code, and throws Error for what the user can mend.
#pragma once
#include <string>
#include <vector>

#include "cli/host/terminal.h"
#include "cli/json.h"
#include "cli/specs.h"
#include "lower.h"

namespace attune::cli {

struct Common {
  Wanted wanted;
  std::vector<std::string> isas;  // empty: all
  std::string name;               // of the kernel; empty: from the expression
  std::string wisdom;             // file of measured machines and schedules; empty: none
};

int list(JsonOutput&);
int gen(const Common&, const std::string& folder, bool python, bool quiet);
// `map`: as in wq=layers.0.q_proj.weight; a weight that is not mapped has the same name in the model's files.
int pack(const Common&, const std::vector<std::string>& files, const std::vector<std::string>& map, const std::string& out);
int check(const Common&, bool emulate, JsonOutput&);
int bench(const Common&, int workers, JsonOutput&);
// `map`: file for a picture of what the mask keeps (PNG); `html`: for a page of all of it; empty: none. `measure`: time
// the kernels as bench does, and set that beside the model's time.
int explain(const Common&, const std::string& map, const std::string& html, bool measure, JsonOutput&);
int tune(const Common&, const std::string& wisdom, int candidates, bool again);
int verdict(const Common&, unsigned seed, int configurations, int candidates, JsonOutput&);

// What gen, check and explain ask of the compiler. Throws Error if the name is no C identifier or an ISA does not exist.
GenerateOptions options_for(const Spec&, const Common&);

// [1, 8, 512, 64]
std::string text_of(const Dims&);
// "q [1, 8, 512, 64], k ..."
std::string text_of(const std::vector<Argument>&);

using host::progress;

}  // namespace attune::cli
