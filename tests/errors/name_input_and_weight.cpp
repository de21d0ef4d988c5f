// expect: graph_of(spec): one name is used for an input and for a weight, on these two lines; rename one
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<2, 8>("x");  // line
#ifdef MISTAKE
  return linear<8>(x, "x");  // line
#else
  return linear<8>(x, "w");
#endif
};
const auto graph = graph_of(spec);  // here
