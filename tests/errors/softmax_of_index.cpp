// expect: softmax(s) or row_reduction(s, a): an index expression stands where a tensor belongs; put a predicate on scores with mask(s, keep)
#include <attune.h>
using namespace attune;

constexpr auto causal = kv_index <= q_index;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto p = softmax(causal);  // here
#else
  auto p = softmax(mask(s, causal));
#endif
  return matmul(p, q);
};
const auto graph = graph_of(spec);
