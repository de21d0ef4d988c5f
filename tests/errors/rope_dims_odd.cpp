// expect: rope(x, {.dims = r}): r is not even and from 2 to head_dim; choose one that is
// shows: 31
// shows: 64
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  auto q = rope(x, {.dims = 31});  // fault
#else
  auto q = rope(x, {.dims = 32});
#endif
  return q;
};
const auto graph = graph_of(spec);
