// What every graph must keep to, checked after each pass.
#pragma once
#include <attune/graph.h>

#include <stdexcept>
#include <string>

namespace attune {

// The message names the line of the spec, the node and what is wrong, and can be shown to a user.
struct InvalidGraph : std::runtime_error {
  int node;  // -1: the graph as a whole
  InvalidGraph(int node_, const std::string& message) : std::runtime_error(message), node(node_) {}
};

// Throws InvalidGraph unless
// - operands stand before their users, in the number and of the kinds that the op takes;
// - every type is what `infer` (attune/rules.h) says, weights fit their projection;
// - integers are divided by positive constants only, coordinates and row state stand only where
//   they are known;
// - inputs and weights have names of their own, and outputs, at least one, exist and are named;
// - every reduction's algebra holds: see verify_algebra.
void verify(const Graph&);

// The part of `verify` that knows numbers; the graph is sound otherwise.
// - weight(s, row_max) = weight(s, old_max) * rescale(old_max, row_max), at sample points;
// - a pair that a mask removes weighs exactly 0 wherever it meets a reduction or a product, so
//   that skipping it is legal.
void verify_algebra(const Graph&);

// "line 30: %27 = mask(%12, kv_index <= q_index): what".
[[noreturn]] void reject(const Graph&, int node, const std::string& what);

}  // namespace attune
