// From a graph to its generated files: the compiler as a function.
#pragma once
#include <attune/graph.h>

#include <map>
#include <optional>
#include <stdexcept>
#include <string>
#include <vector>

#include "isa/isa.h"
#include "passes/block_map.h"
#include "schedule/account.h"
#include "schedule/choice.h"

namespace attune {

// What the user can mend: printed as it is, without a stack of context.
struct Error : std::runtime_error {
  using std::runtime_error::runtime_error;
};

struct SourceFile {
  std::string name;  // relative to the output folder
  std::string text;
};

struct Argument {
  std::string name;
  Dims dims;
  bool integers = false;  // int32, else f32
};

// What a kernel takes and gives, each list in order of first appearance in the spec. NAME_args is
// the pointers of inputs, then outputs; NAME_weights those of weights.
struct Interface {
  std::vector<Argument> inputs, outputs, weights;
};
Interface interface_of(const Graph&);

// Floating-point operations of one call: 2 per multiply-add of every projection, and of every
// product with scores only those of pairs that the mask keeps.
double flops_of(const Graph&);

// By ISA; else the ISA's default.
using Machines = std::map<std::string, Machine>;

struct GenerateOptions {
  std::string name;                                            // a C identifier, prefix of every symbol
  std::string spec;                                            // the spec expression as the user wrote it
  std::string command;                                         // the command line that reproduces the files
  std::vector<std::string> isas = isa_names();                 // in any order: at run time the last of isa_names() that the CPU has wins
  bool emulate = false;                                        // each ISA's ops in portable C++, dispatch without asking the CPU
  bool python = false;                                         // NAME.py too
  std::string source = {};                                     // the text of the spec, for people; may be empty
  std::map<std::string, Choices> schedules = {};               // by ISA, one choice a region; else the model's first
  Machines machines = {};                                      // against which what is not chosen is costed
};

// A region of a spec's kernels whose schedule can be chosen, and its choices.
struct Decision {
  std::size_t region = 0;  // place in Choices
  std::string title;       // unique
  std::vector<Ranked> ranked;
};
std::vector<Decision> decisions(const Graph&, const std::string& isa, const Machines& = {});

// The same for equal graphs, on every machine: 16 hexadecimal digits.
std::string graph_hash(const Graph&);

// Throws Error, naming those that exist, if there is no such ISA.
void require_isa(const std::string& name);

// NAME.h, NAME.hpp, NAME.cpp and a NAME_<isa>.cpp per ISA, and NAME.py if asked for. Throws Error where the graph can't be lowered.
std::vector<SourceFile> generate(const Graph&, const GenerateOptions&);

// The same graph unfused, as a textbook would write it, behind the same C interface (NAME.h and
// NAME.cpp). `vectorisable` orders the loops so that the compiler can vectorise the innermost.
enum class LoopOrder { textbook, vectorisable };
std::vector<SourceFile> generate_naive(const Graph&, const GenerateOptions&, LoopOrder);

// What the mask of each stream that has one keeps, in at most `most` x `most` blocks.
struct MaskMap {
  std::string title, predicate;
  BlockMap map;
  std::vector<int> empty_rows;  // that keep nothing
};
std::vector<MaskMap> mask_maps(const Graph&, long most);

// What was decided on one ISA, and what it takes by the model.
struct Decided {
  std::string isa;
  Machine machine;
  double flops_a_cycle = 0;  // its peak
  long workspace_bytes = 0, worker_bytes = 0, packed_bytes = 0;
  struct Region {
    std::string title, schedule;
    double flops = 0;
    std::optional<Account> account;  // none: the model doesn't know
  };
  std::vector<Region> regions;
};
std::vector<Decided> decided(const Graph&, const GenerateOptions&);

// For people: graph, regions, block map of each predicate, schedule, and what it takes by the model.
std::string explain(const Graph&, const GenerateOptions&);

}  // namespace attune
