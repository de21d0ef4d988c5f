// What the comparison with other libraries needs beyond the zoo.
#pragma once
#include <attune.h>

namespace peers {
using namespace attune;

// One projection, x [1, seq, in] to [1, seq, out].
template <long Seq, long In, long Out>
constexpr auto projection = [] { return linear<Out>(input<1, Seq, In>("x"), "w"); };

}  // namespace peers
