// expect: table<element, dims..>(name) or learned<dims..>(name): an extent is less than 1; a table holds something
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto lengths = table<int32, 0>("lengths");  // here
#else
constexpr auto lengths = table<int32, 1>("lengths");
const auto graph = graph_of([] { return mask(matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k")), kv_index < lengths(batch_index)); });
#endif
