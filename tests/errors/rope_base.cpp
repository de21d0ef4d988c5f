// expect: rope(x, {.base = b}), on this line: b is not positive and finite; the usual base is 10000
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  auto q = rope(x, {.base = 0});  // fault
#else
  auto q = rope(x, {.base = 1});
#endif
  return q;
};
const auto graph = graph_of(spec);
