// expect: split_heads<heads>(x): heads, head_dim or features are 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, 32, 0>("x");
#else
  auto x = input<1, 32, 8>("x");
#endif
  return split_heads<8>(x);  // here
};
const auto graph = graph_of(spec);
