// expect: row_reduction(s, a): a is no algebra; make it by algebra(weight, rescale, scale)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto p = row_reduction(s, exp(score));  // here
#else
  auto p = row_reduction(s, algebra(exp(score), 1, 1));
#endif
  return p;
};
const auto graph = graph_of(spec);
