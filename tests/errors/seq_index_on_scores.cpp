// expect: seq_index and pair_index are known inside rope(..) only; a score has q_index and kv_index
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return matmul(x, transpose(x)) + seq_index;  // here
#else
  return matmul(x, transpose(x)) + q_index;
#endif
};
const auto graph = graph_of(spec);
