// expect: rope(x, how, scaling), on this line: a factor or a length of the scaling is out of range; take those of the model's config.json
#include <attune.h>
using namespace attune;

constexpr auto spec = [] {
  auto x = input<1, 8, 32, 64>("x");
#ifdef MISTAKE
  return rope(x, {}, yarn_scaling{.factor = 4});  // fault
#else
  return rope(x, {}, yarn_scaling{.factor = 4, .length = 4096});
#endif
};
const auto graph = graph_of(spec);
