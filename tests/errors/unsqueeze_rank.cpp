// expect: unsqueeze<at>(x): x has four dims already, as many as a tensor may have; merge some of them
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, 8, 32, 64>("x");
#else
  auto x = input<8, 32, 64>("x");
#endif
  return unsqueeze<0>(x);  // here
};
const auto graph = graph_of(spec);
