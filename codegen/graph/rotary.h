// The angles of a rope: what its frequency expression is for each pair.
#pragma once
#include <attune/graph.h>

#include <vector>

namespace attune {

// Radians per position of each pair of the rope `node`, not yet divided by its divisors. In long double
// and rounded once, so that the digits do not depend on the machine's math library.
std::vector<double> frequencies_of(const Graph&, int node);

}  // namespace attune
