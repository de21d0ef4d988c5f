// expect: split_heads<heads>(x): the operand has another rank than this takes
// shows: 3
// shows: 2
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  auto x = input<32, 64>("x");
#else
  auto x = input<1, 32, 64>("x");
#endif
  auto h = split_heads<8>(x);  // here
  return softmax(matmul(h, transpose(h)));
};
const auto graph = graph_of(spec);
