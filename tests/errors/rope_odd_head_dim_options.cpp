// expect: rope(x, {.dims = r}): r is not even and from 2 to head_dim; choose one that is
// shows: 33
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 33>("x");
#ifdef MISTAKE
  return rope(x, {.base = 500000});  // fault
#else
  return rope(x, {.base = 500000, .dims = 32});
#endif
};
const auto graph = graph_of(spec);
