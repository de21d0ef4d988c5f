// expect: a + b: a predicate is no number; combine predicates with &&, || and !, put one on scores with mask(s, keep)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(s, (kv_index <= q_index) + (kv_index < 4) > 0);  // here
#else
  auto m = mask(s, kv_index <= q_index || kv_index < 4);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
