// expect: graph_of(spec): a name, on this line, is no C identifier, but generated code uses it as one; take letters, digits and _
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<2, 8>("x");
#ifdef MISTAKE
  return linear<8>(x, "layers.0.w");  // fault
#else
  return linear<8>(x, "layers_0_w");
#endif
};
const auto graph = graph_of(spec);  // here
