// expect: a / b or a % b: the divisor of integers is not positive; divide by 1 or more
// shows: 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(s, (q_index - kv_index) % 0 == 0);  // fault
#else
  auto m = mask(s, (q_index - kv_index) % 2 == 0);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
