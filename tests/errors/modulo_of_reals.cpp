// expect: a % b: one of them is real; % takes integers, so drop the decimal point
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  constexpr auto keep = (q_index - kv_index) % 2.0 == 0;  // here
#else
  constexpr auto keep = (q_index - kv_index) % 2 == 0;
#endif
  return softmax(mask(s, keep));
};
const auto graph = graph_of(spec);
