// expect: split_heads<heads>(x): the count in <> is not positive; give 1 or more
// shows: 0
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  auto h = split_heads<0>(x);  // here
#else
  auto h = split_heads<1>(x);
#endif
  return softmax(matmul(h, transpose(h)));
};
const auto graph = graph_of(spec);
