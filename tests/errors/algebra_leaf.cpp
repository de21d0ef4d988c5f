// expect: algebra(weight, rescale, scale): one of them uses what it can not know; weight takes score and row_max, rescale old_max and row_max, scale row_sum, row_max and the row's batch_index, head_index and q_index
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  constexpr auto mine = algebra(exp(score - row_max), exp(old_max - row_max), 1 / score);  // here
#else
  constexpr auto mine = algebra(exp(score - row_max), exp(old_max - row_max), 1 / row_sum);
#endif
  return row_reduction(s, mine);
};
const auto graph = graph_of(spec);
