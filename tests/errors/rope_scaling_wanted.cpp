// expect: rope(x, how, s): s is neither a scaling nor a position; take a scaling of rotary.h, or an integer index expression of seq_index
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rope(x, {}, Rotation{.base = 500000});  // here
#else
  return rope(x, {.base = 500000});
#endif
};
const auto graph = graph_of(spec);
