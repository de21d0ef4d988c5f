// Tiles that fill the register file: their step is a function of its own, which an ISA may write in machine code.
#include <fmt/format.h>

#include "loops/kernel.h"

namespace attune::loops {

constexpr int most_operands = 30;  // of an asm statement, by GCC; a sum counts twice

bool step_apart(const Isa& isa, Tile t, const Operands& o) {
  return registers_of(t) >= isa.crowded && fits(t, isa) && 2 * t.rows * t.vectors + 3 <= most_operands && o.part < 0;
}

static std::string step_function(Context& c, const Accumulators& s, const Operands& o) {
  const Tile t{int(s.size()), int(s[0].size())};
  const std::string n = fmt::format("{}_step_{}x{}", o.title, t.rows, t.vectors * c.lanes);
  if (c.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Step k of {} rows x {} columns.", t.rows, t.vectors * c.lanes);
  f.parameters = {{Type::in, "scalars"}, {Type::in, "vectors"}};
  f.step = TileStep{t.rows, t.vectors, o.scalar_row, o.scalar_step, o.vector_step, {}};
  for (const auto& row : s)
    for (const Expr& sum : row) {
      f.parameters.push_back({Type::vec, sum->text, "vec"});
      f.step->sums.push_back(sum->text);
    }
  f.fixed = true;
  Operands at = o;
  at.scalars = name("scalars", Type::in);
  at.vectors = name("vectors", Type::in);
  Block b(f.body);
  step(b, s, at, c.lanes);
  c.kernel.functions.push_back(std::move(f));
  return n;
}

void accumulate_by_steps(Context& c, Block& b, const Accumulators& s, const Expr& depth, const Operands& o, const Steps& how) {
  constexpr long in_a_row = 4;  // the loop's own instructions take issue slots from the tile's
  const std::string f = step_function(c, s, o);
  const auto run = [&](Block& at, const Expr& from, long steps) {
    for (long k = 0; how.beside && k < steps; ++k) how.beside(at, from + Expr(k));
    for (long k = 0; k < steps; ++k) {
      std::vector<Expr> arguments{o.scalars + Expr(o.scalar_step) * from, o.vectors + Expr(o.vector_step) * from};
      for (const auto& row : s) arguments.insert(arguments.end(), row.begin(), row.end());
      at.run(call(fmt::format("{}<{}>", f, k), Type::none, std::move(arguments)));
    }
  };
  const auto loop = [&](Block& at, const Expr& from, const Expr& to, long steps) {
    Block k = at.loop("k", from, to, steps);
    run(k, name("k", Type::index), steps);
  };
  const auto straight = [&](Block& at, const Expr& from, long steps) {
    const long whole = steps / in_a_row * in_a_row;
    if (whole > in_a_row) loop(at, from, from + Expr(whole), in_a_row);
    else run(at, from, whole);
    run(at, from + Expr(whole), steps - whole);
  };
  if (how.between.run) {
    const auto& [outer, inner, part] = how.between;
    const long of_outer = depth->integer / outer, of_inner = of_outer / inner >= in_a_row ? of_outer / inner / in_a_row * in_a_row : of_outer / inner;
    if (how.ahead && how.every >= depth->integer) how.ahead(b, 0);
    Block o = b.loop("o", 0, outer);
    const Expr from = o.let("from", Expr(of_outer) * name("o", Type::index));
    if (how.ahead && how.every < depth->integer) how.ahead(o, from);
    for (int i = 0; i < inner; ++i) {
      straight(o, from + Expr(of_inner * i), of_inner);
      part(o, name("o", Type::index), i);
    }
    straight(o, from + Expr(of_inner * inner), of_outer - of_inner * inner);
    return straight(b, of_outer * outer, depth->integer - of_outer * outer);
  }
  if (!depth.constant()) {
    const Expr whole = b.let("whole", depth / in_a_row * Expr(in_a_row));
    loop(b, 0, whole, in_a_row);
    return loop(b, whole, depth, 1);
  }
  long done = 0;
  if (how.ahead && how.every >= depth->integer) how.ahead(b, 0);
  else if (how.ahead) {
    done = depth->integer / how.every * how.every;
    Block some = b.loop("from", 0, done, how.every);
    const Expr from = name("from", Type::index);
    how.ahead(some, from);
    loop(some, from, from + Expr(how.every), in_a_row);
  }
  straight(b, done, depth->integer - done);
}

}  // namespace attune::loops
