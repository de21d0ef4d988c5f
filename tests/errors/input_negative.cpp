// expect: input<dims...>(name): an extent is negative; sizes count from 0
// shows: -32
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, -32, 64>("x");  // here
#else
  auto x = input<1, 32, 64>("x");
#endif
  return linear<8>(x, "w");
};
const auto graph = graph_of(spec);
