// expect: matmul(a, b): columns of a and rows of b differ; is a transpose() missing?
// shows: 64
// shows: 32
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
#ifdef MISTAKE
  auto s = matmul(q, k);  // here
#else
  auto s = matmul(q, transpose(k));
#endif
  return matmul(softmax(s), k);
};
const auto graph = graph_of(spec);
