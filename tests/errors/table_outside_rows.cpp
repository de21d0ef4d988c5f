// expect: t(indices..), used on this line: an index can leave the table (A: which of its dims, B: to where); make the table larger, or hold the index back by min and max
// shows: t
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto sinks = table<float32, 7>("sinks");
#else
constexpr auto sinks = table<float32, 8>("sinks");
#endif
constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto s = matmul(q, transpose(q));
  return row_value(s, softmax_algebra, row_max + log(row_sum + exp(sinks(head_index) - row_max)));  // fault
};
const auto graph = graph_of(spec);
