// expect: graph_of(spec): one name is used for two shapes, on these two lines; give each tensor a name of its own
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<2, 8>("x");
#ifdef MISTAKE
  return linear<8>(x, "w", "w");  // fault
#else
  return linear<8>(x, "w", "b");
#endif
};
const auto graph = graph_of(spec);  // here
