// expect: rope(x): the operand has another rank than this takes
// shows: 4
// shows: 3
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  auto q = rope(x);  // here
#else
  auto q = rope(split_heads<2>(x));
#endif
  return q;
};
const auto graph = graph_of(spec);
