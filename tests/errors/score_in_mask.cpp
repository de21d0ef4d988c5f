// expect: mask(s, keep): score, row_max, old_max and row_sum are known inside algebra(..) only; elsewhere use the scores themselves
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(s, score > 0);  // here
#else
  auto m = mask(s, kv_index > 0);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
