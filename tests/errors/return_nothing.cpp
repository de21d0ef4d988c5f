// expect: graph_of(spec): the spec returns no tensor; return one, or several by outputs("y"_out = y, ..)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  softmax(s);
#else
  return softmax(s);
#endif
};
const auto graph = graph_of(spec);  // here
