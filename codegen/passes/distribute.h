// Products with sums of weights.
#pragma once
#include <attune/graph.h>

namespace attune {

// (p + q) v becomes p v + q v, (p c) v becomes (p v) c for a c that all pairs of a row share, and a
// constant becomes a part of the reduction's scale, so that each reduction of scores meets its values
// alone, times at most a factor of the pair, and none is stored.
Graph distribute_products(const Graph&);

}  // namespace attune
