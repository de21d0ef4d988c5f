// expect: row_value(s, a, value): value is no number; build it of row_sum and row_max by arithmetic, as in row_max + log(row_sum)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  return row_value(s, softmax_algebra, row_sum <= row_max);  // here
#else
  return row_value(s, softmax_algebra, min(row_sum, row_max));
#endif
};
const auto graph = graph_of(spec);
