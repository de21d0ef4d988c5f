// expect: rms_norm(x, weight) or l2_norm(x): heads, head_dim or features are 0; only batch and seq_len may be
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
#ifdef MISTAKE
  return l2_norm(input<1, 8, 32, 0>("x"));  // here
#else
  return l2_norm(input<1, 8, 32, 1>("x"));
#endif
};
const auto graph = graph_of(spec);
