// expect: outputs(..): an output is no tensor; an index expression becomes one by s + e or mask(s, e)
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  return outputs("y"_out = softmax(s), "keep"_out = kv_index <= q_index);  // here
#else
  return outputs("y"_out = softmax(s), "kept"_out = mask(s, kv_index <= q_index));
#endif
};
const auto graph = graph_of(spec);
