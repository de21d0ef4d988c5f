// expect: table<element, dims..>(name): there are tables of int32 and of float32; take one of them
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto lengths = table<double, 1>("lengths");  // here
#else
constexpr auto lengths = table<int32, 1>("lengths");
#endif
constexpr auto spec = [] { return mask(matmul(input<1, 8, 32, 64>("q"), input<1, 8, 64, 32>("k")), kv_index < lengths(batch_index)); };
const auto graph = graph_of(spec);
