// expect: matmul(a, b): head counts differ; is a repeat_heads<times>() missing?
// shows: 8
// shows: 2
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 2, 32, 64>("k");
#ifdef MISTAKE
  auto s = matmul(q, transpose(k));  // here
#else
  auto s = matmul(q, transpose(repeat_heads<4>(k)));
#endif
  return softmax(s);
};
const auto graph = graph_of(spec);
