// expect: mask(s, keep): s is no score matrix; mask the result of matmul(q, transpose(k))
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(kv_index <= q_index, s);  // here
#else
  auto m = mask(s, kv_index <= q_index);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
