// expect: transpose(x): x needs at least two dims; declare the input with a batch or sequence dim
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<32>("x");
#else
  auto x = input<32, 16>("x");
#endif
  return transpose(x);  // here
};
const auto graph = graph_of(spec);
