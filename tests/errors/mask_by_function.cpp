// expect: mask(s, keep): keep is no predicate; compare indices, as in kv_index <= q_index
#include <attune.h>
using namespace attune;

constexpr auto causal = kv_index <= q_index;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(s, [](int q, int kv) { return kv <= q; });  // here
#else
  auto m = mask(s, causal);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
