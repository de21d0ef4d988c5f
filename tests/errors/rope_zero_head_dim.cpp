// expect: rope(x): heads, head_dim or features are 0; only batch and seq_len may be
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, 8, 32, 0>("x");
#else
  auto x = input<1, 8, 32, 2>("x");
#endif
  return rope(x, {.dims = 2});  // here
};
const auto graph = graph_of(spec);
