// expect: rope(x, how, position): position is no integer; build it of seq_index, batch_index, pair_index, whole numbers and tables of int32
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rope(x, {}, seq_index / 4.0);  // here
#else
  return rope(x, {}, seq_index / 4);
#endif
};
const auto graph = graph_of(spec);
