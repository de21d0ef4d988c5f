// expect: split_heads<heads>(x): the heads do not divide the features; choose heads that do
// shows: 64
// shows: 5
#include <attune.h>
using namespace attune;

template <long Heads>
constexpr auto block(node auto x) {
  auto h = split_heads<Heads>(x);  // here
  return merge_heads(matmul(softmax(matmul(h, transpose(h))), h));
}

constexpr auto spec = [] {
  auto x = input<1, 32, 64>("x");
#ifdef MISTAKE
  auto y = block<5>(x);  // here
#else
  auto y = block<4>(x);
#endif
  return block<2>(y);
};
const auto graph = graph_of(spec);
