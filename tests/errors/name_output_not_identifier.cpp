// expect: graph_of(spec): a name, on this line, is no C identifier, but generated code uses it as one; take letters, digits and _
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<2, 8>("x");
#ifdef MISTAKE
  return outputs("my y"_out = -x);  // fault
#else
  return outputs("y"_out = -x);
#endif
};
const auto graph = graph_of(spec);  // here
