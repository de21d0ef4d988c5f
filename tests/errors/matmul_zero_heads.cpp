// expect: matmul(a, b): heads, head_dim or features are 0; only batch and seq_len may be
// shows: 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto q = input<1, 0, 32, 64>("q");
#else
  auto q = input<1, 1, 32, 64>("q");
#endif
  return softmax(matmul(q, transpose(q)));  // here
};
const auto graph = graph_of(spec);
