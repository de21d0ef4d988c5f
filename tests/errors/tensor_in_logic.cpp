// expect: a && b: an operand is a tensor; only index expressions are compared, as in kv_index <= q_index
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = s && kv_index <= q_index;  // here
#else
  auto m = mask(s, kv_index <= q_index);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
