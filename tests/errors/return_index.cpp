// expect: graph_of(spec): the spec returns no tensor; return one, or several by outputs("y"_out = y, ..)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  [[maybe_unused]] auto s = matmul(q, transpose(q));
#ifdef MISTAKE
  return kv_index <= q_index;
#else
  return mask(s, kv_index <= q_index);
#endif
};
const auto graph = graph_of(spec);  // here
