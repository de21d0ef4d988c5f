// expect: t(indices..), used on this line: an index can leave the table (A: which of its dims, B: to where); make the table larger, or hold the index back by min and max
#include <attune.h>
using namespace attune;

constexpr auto positions = table<int32, 1, 32>("positions");
constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rope(x, {}, positions(pair_index / 31, seq_index));  // fault
#else
  return rope(x, {}, positions(pair_index / 32, seq_index));
#endif
};
const auto graph = graph_of(spec);
