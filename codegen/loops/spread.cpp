// Elements of a weight, each where the kernel reads it.
#include <fmt/format.h>

#include "loops/kernel.h"

namespace attune::loops {

void pack_spread(Block& pack, const Spread& s, const Memory& m, long offset) {
  Block b = pack.scope();
  b.comment(fmt::format("The elements of {} by their indices.", s.weight));
  constexpr const char* names[] = {"c0", "c1", "row", "col"};
  ElementCode e;
  e.memory = &m;
  e.expression = &s.at;
  Expr to = name("packed", Type::out) + Expr(offset);
  for (std::size_t d = 0; d < e.at.size(); ++d) {
    const long extent = extent_of(s.out.dims[d]);
    Expr i = 0;
    if (extent != 1) {
      b = b.loop(names[d], 0, extent);
      i = name(names[d], Type::index);
    }
    e.at[d] = Expr(s.first[d]) + i;
    to = to + offset_along(s.out.dims[d], i);
  }
  b.assign(element(to, 0), element(name("w->" + s.weight, Type::in), e.whole()));
}

}  // namespace attune::loops
