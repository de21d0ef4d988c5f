// expect: features<from, count>(x): x has not so many features (left: where these end or begin, right: how many there are); they count from 0
// shows: 65
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<8, 32, 64>("x");
#ifdef MISTAKE
  return features<48, 17>(x);  // here
#else
  return features<48, 16>(x);
#endif
};
const auto graph = graph_of(spec);
