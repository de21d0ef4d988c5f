// The inputs that kernels are checked and timed with.
#pragma once
#include <cstdint>
#include <string>
#include <vector>

#include "graph/interpret.h"
#include "lower.h"

namespace attune::host {

// xorshift64* and Box-Muller: the same numbers on every machine and library.
class Normal {
 public:
  explicit Normal(std::uint64_t seed) : state_(seed * 0x9E3779B97F4A7C15ull + 1) {}
  double operator()();

 private:
  double uniform();  // in (0, 1)
  std::uint64_t state_;
};

// Activations N(0, 1), weights N(0, 1 / in_features), integers floor(4 |N(0, 1)|).
Bindings standard_inputs(const Interface&, std::uint64_t seed = 1);

// Which inputs reach the left and the right operand of scores, and the values that scores weigh,
// by any path that does not lead through other scores. All empty if a graph has no scores.
struct Roles {
  std::vector<std::string> left, right, values;
  bool masked = false;  // some scores are removed
  // Left, right and values are three different inputs, each read as it lies.
  bool separate() const { return left.size() == 1 && right.size() == 1 && values.size() == 1 && left != right && right != values && left != values; }
};
Roles roles_of(const Graph&);

struct Case {
  std::string name;
  Bindings values;
  bool finite = true;
};
// Standard inputs first, then those that break kernels.
std::vector<Case> check_cases(const Graph&, const Interface&);
// Other data for the same kernel, that a fast path might not take: none if the graph has no separate q, k and v.
std::vector<Case> bench_cases(const Graph&, const Interface&);

}  // namespace attune::host
