// expect: input<dims...>(name): a tensor has one to four dims; merge some of them
// shows: 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input("x");  // here
#else
  auto x = input<1>("x");
#endif
  return x;
};
const auto graph = graph_of(spec);
