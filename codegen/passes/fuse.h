// From a graph to regions.
#pragma once
#include "passes/region.h"

namespace attune {

// Fused: a projection with everything elementwise behind it and the layout that its reader wants is
// one contraction; scores, their reduction and the product with the values are one stream; views
// cost nothing; what is left is elementwise regions, and plain loops where no form above fits.
Program fuse(const Graph&);

// Every node a region of its own, as a textbook computes it.
Program unfused(const Graph&);

// Contractions over the same rows become one pass over them.
void merge_contractions(Program&);

// Input, output and weight names of a graph in order of first appearance; shared by all programs.
std::vector<int> inputs_of(const Graph&);
std::vector<int> weights_of(const Graph&);

}  // namespace attune
