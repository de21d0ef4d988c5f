// expect: unsqueeze<at>(x): the new dim would stand outside of the result (left: its place, right: the last one there is); the last is also -1
// shows: 4
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<8, 32, 64>("x");
#ifdef MISTAKE
  return unsqueeze<4>(x);  // here
#else
  return unsqueeze<3>(x);
#endif
};
const auto graph = graph_of(spec);
