// expect: algebra(weight, rescale, scale): one of them is no number; build it of score, row_max, old_max and row_sum by arithmetic
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  constexpr auto mine = algebra(score > 0, 1, 1 / row_sum);  // here
#else
  constexpr auto mine = algebra(max(score, 0), 1, 1 / row_sum);
#endif
  return row_reduction(s, mine);
};
const auto graph = graph_of(spec);
