// expect: a / b or a % b: the divisor of integers is not positive; divide by 1 or more
// shows: -2
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = s + kv_index / -2;
#else
  auto m = s + -(kv_index / 2);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);  // here
