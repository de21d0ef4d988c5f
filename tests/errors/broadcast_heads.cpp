// expect: min(a, b): the extents are neither equal nor 1; give both the same shape
// shows: 3
// shows: 8
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<3, 1, 1>("x");
#else
  auto x = input<8, 1, 1>("x");
#endif
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  return min(x, q);  // here
#else
  return min(x, q);
#endif
};
const auto graph = graph_of(spec);
