// expect: graph_of(spec): spec can not be called without arguments; pass the lambda itself
#include <attune.h>
using namespace attune;

constexpr auto spec = [] { return softmax(matmul(input<1, 8, 32, 64>("q"), transpose(input<1, 8, 32, 64>("k")))); };

#ifdef MISTAKE
const auto graph = graph_of(spec());  // here
#else
const auto graph = graph_of(spec);
#endif
