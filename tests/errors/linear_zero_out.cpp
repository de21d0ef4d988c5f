// expect: linear<out>(x, weight): the count in <> is not positive; give 1 or more
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  return linear<0>(x, "w");  // here
#else
  return linear<8>(x, "w");
#endif
};
const auto graph = graph_of(spec);
