// expect: graph_of(spec): an output has the name of an input or a weight, on these two lines; rename one
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32>("x");
  auto y = linear<16>(x, "w", "b");  // line
#ifdef MISTAKE
  return outputs("b"_out = y);  // line
#else
  return outputs("y"_out = y);
#endif
};
const auto graph = graph_of(spec);  // here
