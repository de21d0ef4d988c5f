// expect: a / b: the divisor of integers is no literal; divide by a positive number, or write 1.0 * a for a real quotient
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto m = mask(s, kv_index / (head_index + 1) < 4);  // here
#else
  auto m = mask(s, 1.0 * kv_index / (head_index + 1) < 4);
#endif
  return softmax(m);
};
const auto graph = graph_of(spec);
