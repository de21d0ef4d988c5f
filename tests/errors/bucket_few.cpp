// expect: bucket_of_distance<buckets, farthest>(n): there are four buckets at least, the farthest distance is more than half as many
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto q = input<1, 8, 32, 64>("q");
#ifdef MISTAKE
  constexpr auto bucket = bucket_behind<32, 16>;  // here
#else
  constexpr auto bucket = bucket_behind<32, 128>;
#endif
  return softmax(matmul(q, transpose(q)) + learned<32, 8>("bias")(bucket, head_index));
};
const auto graph = graph_of(spec);
