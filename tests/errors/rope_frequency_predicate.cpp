// expect: rope(x, how, scaling): the scaling's frequency is no number; build it of pair_index by arithmetic
#include <attune.h>
using namespace attune;


struct my_scaling {
#ifdef MISTAKE
  constexpr auto frequency(double, long) const { return pair_index < 8; }
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
