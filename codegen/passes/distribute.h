// Products with sums of weights.
#pragma once
#include <attune/graph.h>

namespace attune {

// (p + q) v becomes p v + q v, and (p c) v becomes (p v) c for a c that all pairs of a row share, so that
// each reduction of scores meets its values alone, and none is stored.
Graph distribute_products(const Graph&);

}  // namespace attune
