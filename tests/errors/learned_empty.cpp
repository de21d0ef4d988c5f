// expect: table<element, dims..>(name) or learned<dims..>(name): an extent is less than 1; a table holds something
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto sinks = learned<0>("sinks");  // here
#else
constexpr auto sinks = learned<8>("sinks");
#endif
constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
  return softmax(matmul(q, transpose(q)) + sinks(head_index));
};
const auto graph = graph_of(spec);
