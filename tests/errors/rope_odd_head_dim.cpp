// expect: rope(x): head_dim is odd, but RoPE rotates pairs; pass {.dims = an even number} to rotate the first dims only
// shows: 33
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 33>("x");
#ifdef MISTAKE
  auto q = rope(x);  // here
#else
  auto q = rope(x, {.dims = 32});
#endif
  return q;
};
const auto graph = graph_of(spec);
