// What a graph computes, in double precision: the meaning of every op, and beside each value how
// far an f32 kernel may be from it.
#pragma once
#include <attune/graph.h>

#include <functional>
#include <map>
#include <string>
#include <vector>

namespace attune {

struct Array {
  Dims dims;
  std::vector<double> v;               // dense, row-major
  std::vector<double> bound;           // |kernel - v| may be this much; 0 where v is not finite
  std::vector<unsigned char> removed;  // scores and probabilities: 1 where the pair is removed; else empty
};

// Inputs and weights by name, dense and row-major. Subnormals count as 0. Tables of integers hold
// whole numbers of at most 24 bits.
using Bindings = std::map<std::string, std::vector<float>, std::less<>>;

// The value of every output, in the order of Graph::outputs.
// Throws std::invalid_argument where an input or weight that they need is missing or of another
// size; bindings that nothing needs are ignored.
//
// A pair is removed if its score is -inf, by mask or by bias. It adds nothing to its row: neither
// to the row's maximum and sum nor, whatever v holds there, to the product with v. A row that
// keeps no pair is 0.
//
// The bounds, with u = 2^-24:
//   projection        8u sqrt(in) sum |x w|
//   scores            16u S, S the straightforward sum of magnitudes: |scale| sum |q k| + |bias|
//   weighted values   16u (1 + max S over the row's kept pairs) sum p |v| + 2^-126 per kept pair
// each plus what the bounds of its operands bring about, and 2^-126 for each step of a sum, since a
// result below that counts as 0; elementwise ops and rope add their own rounding.
std::vector<Array> interpret_outputs(const Graph&, const Bindings&);

// The value of one tensor or score matrix of the graph. Throws as interpret_outputs does, and for
// an index expression, which has a value only at a score.
Array interpret_node(const Graph&, int node, const Bindings&);

}  // namespace attune
