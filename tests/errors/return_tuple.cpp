// expect: graph_of(spec): the spec returns no tensor; return one, or several by outputs("y"_out = y, ..)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
#ifdef MISTAKE
  return hana::make_tuple(q, k);
#else
  return outputs("y"_out = -q, "z"_out = -k);
#endif
};
const auto graph = graph_of(spec);  // here
