// expect: exp(a): a predicate is no number
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto t = s + exp(kv_index < q_index);  // here
#else
  auto t = s + exp(kv_index - q_index);
#endif
  return softmax(t);
};
const auto graph = graph_of(spec);
