// expect: rope(x, how, position): position uses what it can not know; it takes seq_index, batch_index, pair_index and tables read by them
#include <attune.h>
using namespace attune;

constexpr auto positions = table<int32, 1, 32>("positions");
constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rope(x, {}, positions(0, q_index));  // here
#else
  return rope(x, {}, positions(0, seq_index));
#endif
};
const auto graph = graph_of(spec);
