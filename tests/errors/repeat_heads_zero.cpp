// expect: repeat_heads<times>(x): the count in <> is not positive; give 1 or more
// shows: 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  return repeat_heads<0>(q);  // here
#else
  return repeat_heads<2>(q);
#endif
};
const auto graph = graph_of(spec);
