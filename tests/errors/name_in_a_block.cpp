// expect: graph_of(spec): one name is used for two shapes, on these two lines; give each tensor a name of its own
#include <attune.h>
using namespace attune;

template <long Out>
constexpr auto block(auto x, std::string_view name) { return tanh(linear<Out>(x, name)); }  // fault

constexpr auto spec = [] {
  auto x = input<2, 16>("x");
#ifdef MISTAKE
  return block<4>(block<8>(x, "w"), "w");
#else
  return block<4>(block<8>(x, "w"), "u");
#endif
};
const auto graph = graph_of(spec);  // here
