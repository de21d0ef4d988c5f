// What is checked of a graph: that passes keep its meaning, and that kernels compute it.
#pragma once
#include <attune/graph.h>

#include <cstdint>
#include <string>
#include <vector>

#include "cli/host/inputs.h"
#include "cli/host/kernel.h"

namespace attune::fuzz {

// What went wrong, in words; empty if nothing did.
using Complaint = std::string;

// How much a comparison could have shown.
struct Tally {
  long elements = 0;  // compared with a finite value
  long sharp = 0;     // of those: with a bound of less than 1e-3 of 1 + |value|
};

// Expectations of one graph under several inputs.
class Subject {
 public:
  // `id` makes names of kernels. The graph is one that the verifier accepts.
  Subject(std::uint64_t id, Graph);

  const Graph& graph() const { return graph_; }

  // Each pass gives a graph that the verifier accepts and that computes the same.
  Complaint passes() const;

  // Every ISA's kernel, and the reference in both orders of loops, as sources: `dispatchers` one
  // file each, and all other code in `code`.
  void generate(std::vector<SourceFile>& headers_and_dispatchers, std::string& code);
  // Runs them. The library holds what generate() made.
  Complaint kernels(const std::shared_ptr<const host::Library>&, Tally&) const;

 private:
  struct Variant {
    std::string name, label;
    bool naive = false;
  };
  Complaint run(host::Kernel&, const Variant&, std::size_t inputs, Tally&) const;

  std::uint64_t id_;
  std::string prefix_;
  Graph graph_;
  Interface interface_;
  std::vector<host::Case> cases_;
  std::vector<std::vector<Array>> expected_;  // of each case
  std::vector<Variant> variants_;
};

// Whether the machine needs -march=native for what generate() makes.
std::vector<std::string> compiler_flags();

}  // namespace attune::fuzz
