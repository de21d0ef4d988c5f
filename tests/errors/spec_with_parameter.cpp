// expect: graph_of(spec): spec can not be called without arguments; pass the lambda itself
#include <attune.h>
using namespace attune;

#ifdef MISTAKE
constexpr auto spec = [](tensor<1, 8> x) { return x * 2; };
#else
constexpr auto spec = [] { return input<1, 8>("x") * 2; };
#endif
const auto graph = graph_of(spec);  // here
