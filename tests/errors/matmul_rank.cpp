// expect: matmul(a, b): the operand has another rank than this takes
// shows: 4
// shows: 3
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  auto s = matmul(x, transpose(x));  // here
#else
  auto h = split_heads<4>(x);
  auto s = matmul(h, transpose(h));
#endif
  return softmax(s);
};
const auto graph = graph_of(spec);
