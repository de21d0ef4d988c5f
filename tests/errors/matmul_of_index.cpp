// expect: matmul(a, b): an index expression stands where a tensor belongs; put a predicate on scores with mask(s, keep)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto y = matmul(kv_index <= q_index, q);  // here
#else
  auto y = matmul(mask(s, kv_index <= q_index), q);
#endif
  return y;
};
const auto graph = graph_of(spec);
