// expect: features<from, count>(x): the count in <> is not positive; give 1 or more
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<8, 32, 64>("x");
#ifdef MISTAKE
  return features<16, 0>(x);  // here
#else
  return features<16, 1>(x);
#endif
};
const auto graph = graph_of(spec);
