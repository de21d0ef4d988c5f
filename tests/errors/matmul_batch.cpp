// expect: matmul(a, b): batch sizes differ; give both operands the same batch
// shows: 3
// shows: 2
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<3, 8, 32, 64>("q");
#ifdef MISTAKE
  auto k = input<2, 8, 32, 64>("k");
#else
  auto k = input<3, 8, 32, 64>("k");
#endif
  return softmax(matmul(q, transpose(k)));  // here
};
const auto graph = graph_of(spec);
