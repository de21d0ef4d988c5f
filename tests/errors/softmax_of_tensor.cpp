// expect: softmax(s) or row_reduction(s, a): s is no score matrix; reduce the result of matmul(q, transpose(k))
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  auto p = softmax(q);  // here
#else
  auto p = softmax(matmul(q, transpose(q)));
#endif
  return matmul(p, q);
};
const auto graph = graph_of(spec);
