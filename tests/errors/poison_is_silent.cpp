// expect: matmul(a, b): columns of a and rows of b differ; is a transpose() missing?
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
#ifdef MISTAKE
  scores<1, 8, 32, 32> s = matmul(q, k);  // here
#else
  scores<1, 8, 32, 32> s = matmul(q, transpose(k));
#endif
  auto p = softmax(mask(50 * tanh(s / 50) + exp(-0.5 * head_index) * (kv_index - q_index), kv_index <= q_index));
  auto y = rope(matmul(max(p, 0), k), {.base = 500000});
  return outputs("y"_out = linear<64>(merge_heads(-y), "wo", "bo") + 1, "p"_out = min(1, p));
};
const auto graph = graph_of(spec);
