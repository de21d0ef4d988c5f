// expect: row_value(s, a, value): a is no algebra; make it by algebra(weight, rescale, scale)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  return row_value(s, exp(score - row_max), row_sum);  // here
#else
  return row_value(s, softmax_algebra, row_sum);
#endif
};
const auto graph = graph_of(spec);
