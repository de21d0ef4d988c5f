// expect: matmul(a, b): heads, head_dim or features are 0; only batch and seq_len may be
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto v = input<1, 8, 32, 0>("v");
#else
  auto v = input<1, 8, 32, 16>("v");
#endif
  return matmul(softmax(s), v);  // here
};
const auto graph = graph_of(spec);
