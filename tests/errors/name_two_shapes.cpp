// expect: graph_of(spec): one name is used for two shapes, on these two lines; give each tensor a name of its own
// shows: 'q'
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");  // line
#ifdef MISTAKE
  auto k = input<1, 8, 16, 64>("q");  // line
#else
  auto k = input<1, 8, 16, 64>("k");
#endif
  return softmax(matmul(q, transpose(k)));
};
const auto graph = graph_of(spec);  // here
