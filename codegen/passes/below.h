// What stands below a node of a graph: questions that fusion asks before it decides.
#pragma once
#include <attune/graph.h>

#include <vector>

namespace attune {

bool elementwise(Op);

// Whether the pairs of a rotation stand side by side or whole vectors apart on every ISA.
bool turns_vectors(const Node& rope);

// Whether `id` is `below` or hangs on it; never if that is -1.
bool leads_to(const Graph&, int id, int below);

// The norm of rows below node `id`, with elementwise ops and rotations of vectors between; or -1.
int norm_below(const Graph&, int id);

// Whether the scores `id` are the matmul of two tensors, or a sum of such; adds those if there is a list.
bool sums_products(const Graph&, int id, std::vector<int>* products = nullptr);

// What sums products below the scores `id`, or -1.
int product_below(const Graph&, int id);

// The reduction whose weights these scores are, each times what factors of its pair there are; or -1.
// If they are stored too, since they are results, they are not read: to compute them again costs less.
int reduction_below(const Graph&, int id);

}  // namespace attune
