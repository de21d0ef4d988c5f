// expect: rms_norm(x, weight, eps) or l2_norm(x, eps), on this line: eps is negative or not finite; take that of the model's config.json
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rms_norm(x, "w", -1e-6);  // fault
#else
  return rms_norm(x, "w", 1e-6);
#endif
};
const auto graph = graph_of(spec);
