// expect: linear<out>(x, weight): x needs at least two dims; declare the input with a batch or sequence dim
// shows: 2
// shows: 1
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<64>("x");
#else
  auto x = input<1, 64>("x");
#endif
  auto q = linear<64>(x, "wq");  // here
  auto k = linear<64>(x, "wk");
  auto v = linear<64>(x, "wv");
  return q + k + v;
};
const auto graph = graph_of(spec);
