// expect: t(indices..), used on this line: an index can leave the table (A: which of its dims, B: to where); make the table larger, or hold the index back by min and max
#include <attune.h>
using namespace attune;

constexpr auto document = table<int32, 1, 32>("document");
constexpr auto spec = [] {
  auto s = matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k"));
#ifdef MISTAKE
  return mask(s, document(0, q_index + 1) == 0);  // fault
#else
  return mask(s, document(0, q_index) == 0);
#endif
};
const auto graph = graph_of(spec);
