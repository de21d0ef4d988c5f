// Constants meet constants, and a chain of scales becomes one factor.
#pragma once
#include <attune/graph.h>

namespace attune {

Graph fold_constants(const Graph&);

}  // namespace attune
