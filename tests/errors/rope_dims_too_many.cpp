// expect: rope(x, {.dims = r}): r is not even and from 2 to head_dim; choose one that is
// shows: 66
// shows: 64
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  auto q = rope(x, {.pairs = half_split, .dims = 66});  // fault
#else
  auto q = rope(x, {.pairs = half_split, .dims = 64});
#endif
  return q;
};
const auto graph = graph_of(spec);
