// Cosines and sines of the angles by which pairs of a row turn: once by pack_weights, or for each call
// where they depend on its arguments.
#include <fmt/format.h>

#include <algorithm>

#include "loops/kernel.h"

namespace attune::loops {
namespace {

Expr index(const char* n) { return name(n, Type::index); }
// Doubles have no type here; they are read through names that stand for pointers.
Expr entry(const std::string& array, const Expr& at) { return element(name(array, Type::in), at); }
Expr widened(Expr e) { return call("double", Type::real, {std::move(e)}); }

std::string frequencies_text(const Angles& a) {
  std::string values;
  for (double f : a.frequencies) values += fmt::format("{}{:a}", values.empty() ? "" : ", ", f);
  return fmt::format("static const double frequency[] = {{{}}};", values);
}

// The angles of the row at `at`; cosines go to `to`. `divisors` names the weight's place, if there is one.
void turn_row(Block& b, const Angles& a, const Memory& m, const std::array<Expr, region_rank>& at, const Expr& to, const std::string& divisors) {
  const long pairs = long(a.frequencies.size());
  ElementCode e;
  e.memory = &m;
  e.at = at;
  const auto position = [&](std::size_t i) {
    e.expression = &a.positions[i];
    return e.whole();
  };
  Expr of_pair;
  if (a.positions.size() == 1) {
    of_pair = b.let("position", position(0));
  } else {
    b.array(Type::index, "place", a.place);
    b.text(fmt::format("long position[{}];", a.positions.size()));
    for (std::size_t i = 0; i < a.positions.size(); ++i) b.assign(entry("position", Expr(long(i))), position(i));
    of_pair = entry("position", entry("place", index("i")));
  }
  b.text(fmt::format("double angle[{}];", pairs));
  Block i = b.loop("i", 0, pairs);
  const Expr f = entry("frequency", index("i"));
  i.assign(entry("angle", index("i")), widened(of_pair) * (divisors.empty() ? f : f / widened(entry(divisors, index("i")))));
  const Expr sines = to + Expr(extent_of(a.out.dims[0]) * extent_of(a.out.dims[2]) * 2 * pairs);
  b.run(call(fmt::format("turn<{}, {}>", pairs, a.neighbours), Type::none, {to, sines, name("angle", Type::in), name(fmt::format("{:a}", a.amplitude), Type::real)}));
}

}  // namespace

void lower_angles(Context& c, const Angles& a) {
  per_row(
      c, extent_of(a.out.dims[0]), 1, extent_of(a.out.dims[2]),
      [&](Block& b, const std::array<Expr, region_rank>& at) { turn_row(b, a, c.memory, at, b.let("cosines", address(c.memory, a.out, at)), a.divisors.empty() ? "" : "m." + a.divisors); },
      [&](Block& b) { b.text(frequencies_text(a)); });
}

void pack_angles(Block& pack, const Angles& a, const Memory& m, long offset) {
  Block b = pack.scope();
  b.comment("Each row's cosines of angles, then as many sines.");
  b.text("const unsigned before = set_float_state();");
  b.text(frequencies_text(a));
  const long batches = extent_of(a.out.dims[0]);
  Block c0 = batches == 1 ? b : b.loop("c0", 0, batches);
  Block row = c0.loop("row", 0, extent_of(a.out.dims[2]));
  const std::array<Expr, region_rank> at{batches == 1 ? Expr(0) : index("c0"), 0, index("row"), 0};
  Expr to = name("packed", Type::out) + Expr(offset);
  for (std::size_t d = 0; d < at.size(); ++d) to = to + offset_along(a.out.dims[d], at[d]);
  turn_row(row, a, m, at, row.let("cosines", to), a.divisors.empty() ? "" : "w->" + a.divisors);
  b.text("restore_float_state(before);");
}

}  // namespace attune::loops
