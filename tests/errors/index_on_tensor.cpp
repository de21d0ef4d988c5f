// expect: a * b: an index expression meets a tensor that is no score matrix; use it on the result of matmul(q, transpose(k))
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
#ifdef MISTAKE
  auto s = matmul(q * (head_index + 1), transpose(k));  // here
#else
  auto s = matmul(q, transpose(k)) * (head_index + 1);
#endif
  return softmax(s);
};
const auto graph = graph_of(spec);
