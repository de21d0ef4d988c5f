// expect: graph_of(spec): an output has the name of an input or a weight, on these two lines; rename one
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");  // line
  auto y = tanh(q);
#ifdef MISTAKE
  return outputs("y"_out = y, "q"_out = -y);  // line
#else
  return outputs("y"_out = y, "z"_out = -y);
#endif
};
const auto graph = graph_of(spec);  // here
