// expect: outputs(..): an output has no name; write outputs("y"_out = y, ..)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
#ifdef MISTAKE
  return outputs(-q, -k);  // here
#else
  return outputs("y"_out = -q, "z"_out = -k);
#endif
};
const auto graph = graph_of(spec);
