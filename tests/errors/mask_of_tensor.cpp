// expect: mask(s, keep): s is no score matrix; mask the result of matmul(q, transpose(k))
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  auto m = mask(q, kv_index <= q_index);  // here
#else
  auto m = mask(matmul(q, transpose(q)), kv_index <= q_index);
#endif
  return m;
};
const auto graph = graph_of(spec);
