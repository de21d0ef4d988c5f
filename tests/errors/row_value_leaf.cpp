// expect: row_value(s, a, value): value uses what a row can not know; it takes row_sum, row_max and the row's batch_index, head_index and q_index
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  return row_value(s, softmax_algebra, row_max + log(score));  // here
#else
  return row_value(s, softmax_algebra, row_max + log(row_sum));
#endif
};
const auto graph = graph_of(spec);
