// expect: linear<out>(x, weight): heads, head_dim or features are 0; only batch and seq_len may be
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, 32, 0>("x");
#else
  auto x = input<1, 0, 32>("x");
#endif
  return linear<8>(x, "w", "b");  // here
};
const auto graph = graph_of(spec);
