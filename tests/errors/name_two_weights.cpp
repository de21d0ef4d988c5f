// expect: graph_of(spec): one name is used for two shapes, on these two lines; give each tensor a name of its own
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<2, 8>("x");
  auto y = linear<12>(x, "w");  // line
#ifdef MISTAKE
  return linear<16>(y, "w");  // line
#else
  return linear<16>(y, "wo");
#endif
};
const auto graph = graph_of(spec);  // here
