// expect: linear<out>(x, weight): an index expression stands where a tensor belongs
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  auto k = input<1, 8, 32, 64>("k");
  auto s = matmul(q, transpose(k));
#ifdef MISTAKE
  auto y = linear<8>(kv_index, "w");  // here
#else
  auto y = linear<8>(s + kv_index, "w");
#endif
  return y;
};
const auto graph = graph_of(spec);
