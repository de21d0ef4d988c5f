// expect: sqrt_of<N>: N is negative; take the head_dim
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  return softmax(matmul(q, transpose(q)) / sqrt_of<-64>);  // here
#else
  return softmax(matmul(q, transpose(q)) / sqrt_of<64>);
#endif
};
const auto graph = graph_of(spec);
