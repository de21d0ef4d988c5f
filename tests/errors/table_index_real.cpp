// expect: t(indices..): an index is no integer; build it of batch_index, head_index, q_index, kv_index and whole numbers
#include <attune.h>
using namespace attune;

constexpr auto bias = table<float32, 63>("bias");
constexpr auto spec = [] {
  auto s = matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k"));
#ifdef MISTAKE
  return s + bias(0.5 * (q_index - kv_index + 31));  // here
#else
  return s + bias(q_index - kv_index + 31);
#endif
};
const auto graph = graph_of(spec);
