// expect: t(indices..): a table takes an index for each of its dims (left: dims, right: given)
#include <attune.h>
using namespace attune;

constexpr auto document = table<int32, 1, 32>("document");
constexpr auto spec = [] {
  auto s = matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k"));
#ifdef MISTAKE
  return mask(s, document(q_index) == 3);  // here
#else
  return mask(s, document(0, q_index) == document(0, kv_index));
#endif
};
const auto graph = graph_of(spec);
