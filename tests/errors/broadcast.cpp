// expect: a + b: the extents are neither equal nor 1; give both the same shape
// shows: 64
// shows: 16
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  auto k = input<1, 8, 32, 16>("k");
#else
  auto k = input<1, 1, 32, 1>("k");
#endif
#ifdef MISTAKE
  auto y = q + k;  // here
#else
  auto y = q + k * 2;
#endif
  return y;
};
const auto graph = graph_of(spec);
