// expect: rope(x, how, scaling): the scaling's frequency uses what it can not know; it takes pair_index and no table
#include <attune.h>
using namespace attune;

[[maybe_unused]] constexpr auto angles = table<float32, 32>("angles");
struct my_scaling {
#ifdef MISTAKE
  constexpr auto frequency(double, long) const { return angles(pair_index); }
#else
  constexpr auto frequency(double base, long dims) const { return frequency_of(base, dims) / 2; }
#endif
  constexpr double amplitude() const { return 1; }
};
constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
  return rope(x, {}, my_scaling{});  // here
};
const auto graph = graph_of(spec);
