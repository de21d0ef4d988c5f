// expect: t(indices..), used on this line: an index can leave the table (A: which of its dims, B: to where); make the table larger, or hold the index back by min and max
// shows: 31
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto bias = learned<31, 8>("bias");
#else
constexpr auto bias = learned<32, 8>("bias");
#endif
constexpr auto spec = [] {
  auto q = input<1, 8, 256, 64>("q");
  return softmax(matmul(q, transpose(q)) + bias(bucket_to_both_sides<32, 128>, head_index));  // fault
};
const auto graph = graph_of(spec);
