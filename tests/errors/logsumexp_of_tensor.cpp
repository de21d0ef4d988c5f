// expect: logsumexp(s) or row_value(s, a, value): s is no score matrix; reduce the result of matmul(q, transpose(k))
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  return logsumexp(q);  // here
#else
  return logsumexp(matmul(q, transpose(q)));
#endif
};
const auto graph = graph_of(spec);
