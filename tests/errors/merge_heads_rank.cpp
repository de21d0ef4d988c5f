// expect: merge_heads(x): the operand has another rank than this takes
// shows: 4
// shows: 3
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  return merge_heads(linear<64>(x, "w"));  // here
#else
  return linear<64>(x, "w");
#endif
};
const auto graph = graph_of(spec);
