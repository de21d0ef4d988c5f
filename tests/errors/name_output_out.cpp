// expect: graph_of(spec): an output has the name of an input or a weight, on these two lines; rename one (a single output is named out)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto q = input<2, 8>("out");  // line
#else
  auto q = input<2, 8>("in");
#endif
  return linear<8>(q, "w");  // line
};
const auto graph = graph_of(spec);  // here
