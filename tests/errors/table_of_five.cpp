// expect: table<element, dims..>(name) or learned<dims..>(name): a table has one to four dims; merge some of them
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto keep = table<int32, 1, 1, 1, 32, 32>("keep");  // here
#else
constexpr auto keep = table<int32, 1, 1, 32, 32>("keep");
#endif
constexpr auto use = [](auto t) { return mask(matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k")), t(0, 0, q_index, kv_index) != 0); };
#ifndef MISTAKE
const auto graph = graph_of([] { return use(keep); });
#endif
