// expect: input<dims...>(name): a tensor has one to four dims; merge some of them
// shows: 5
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<1, 2, 3, 4, 5>("x");  // here
#else
  auto x = input<1, 2, 3, 20>("x");
#endif
  return x;
};
const auto graph = graph_of(spec);
