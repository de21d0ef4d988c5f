// expect: split_heads<heads>(x): the heads do not divide the features; choose heads that do
// shows: 64
// shows: 7
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  auto h = split_heads<7>(x);  // here
#else
  auto h = split_heads<8>(x);
#endif
  return softmax(matmul(h, transpose(h)));
};
const auto graph = graph_of(spec);
