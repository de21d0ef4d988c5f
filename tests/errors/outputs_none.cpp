// expect: outputs(..): there is none; name at least one, as in outputs("y"_out = y)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  [[maybe_unused]] auto y = -q;
#ifdef MISTAKE
  return outputs();  // here
#else
  return outputs("y"_out = -q);
#endif
};
const auto graph = graph_of(spec);
