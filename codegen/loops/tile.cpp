#include <algorithm>

#include "loops/kernel.h"

namespace attune::loops {

Accumulators declare_accumulators(Block& b, Tile t, const std::vector<Expr>& start) {
  Accumulators s;
  for (int i = 0; i < t.rows; ++i) {
    std::vector<std::pair<std::string, Expr>> names;
    std::vector<Expr> row;
    for (int v = 0; v < t.vectors; ++v) {
      const std::string n = t.rows > 9 || t.vectors > 9 ? "s" + std::to_string(i) + "_" + std::to_string(v) : "s" + std::to_string(i) + std::to_string(v);
      names.push_back({n, start.empty() ? call("splat", Type::vec, {real(0)}) : start[std::size_t(v)]});
      row.push_back(name(n, Type::vec));
    }
    b.declare(Type::vec, std::move(names));
    s.push_back(std::move(row));
  }
  return s;
}

void step(Block& k, const Accumulators& s, const Operands& o, int lanes, bool holes) {
  const int rows = int(s.size()), vectors = int(s[0].size());
  const Expr at = name("k", Type::index);
  const auto hole = [](int i) { return "hole" + std::to_string(i); };
  const auto fma = [&](const Expr& x, const Expr& y, int i, int v) {
    const Expr& sum = s[std::size_t(i)][std::size_t(v)];
    k.assign(sum, holes ? call("fma_unless", Type::vec, {name(hole(i), Type::lanes), x, y, sum}) : call("fma", Type::vec, {x, y, sum}));
  };
  const auto broadcast = [&](int i) {
    const Expr a = k.let("a" + std::to_string(i), call("splat", Type::vec, {element(o.scalars, Expr(o.scalar_row * i) + Expr(o.scalar_step) * at)}));
    if (holes) k.let(hole(i), call("is_minus_zero", Type::lanes, {a}));
    return a;
  };
  const auto loaded = [&](int v) { return k.let("b" + std::to_string(v), load_vector(o.vectors + Expr(o.vector_step) * at + Expr(long(v) * lanes), v == vectors - 1 ? o.part : -1)); };
  // The smaller set stays in registers during a step, the other passes through one.
  std::vector<Expr> held;
  if (vectors <= rows) {
    for (int v = 0; v < vectors; ++v) held.push_back(loaded(v));
    for (int i = 0; i < rows; ++i) {
      const Expr a = broadcast(i);
      for (int v = 0; v < vectors; ++v) fma(a, held[std::size_t(v)], i, v);
    }
  } else {
    for (int i = 0; i < rows; ++i) held.push_back(broadcast(i));
    for (int v = 0; v < vectors; ++v) {
      const Expr x = loaded(v);
      for (int i = 0; i < rows; ++i) fma(held[std::size_t(i)], x, i, v);
    }
  }
}

// The loop's own instructions take issue slots from the tile's: 3 to 5 % of its time where a step is 24 fma.
void accumulate(Context& c, Block& b, const Accumulators& s, const Expr& depth, const Operands& o, const Steps& how) {
  if (how.some_hole) {
    accumulate(c, b, s, how.before_holes, o);
    Block k = b.loop("k", how.before_holes, depth);
    Block some = k.when(how.some_hole(name("k", Type::index)));
    step(some, s, o, c.lanes, true);
    Block none = k.otherwise();
    step(none, s, o, c.lanes);
    return;
  }
  if (step_apart(*c.kernel.schedule->isa, {int(s.size()), int(s[0].size())}, o)) return accumulate_by_steps(c, b, s, depth, o, how);
  // GCC 12 heeds a wish to unroll by four for bodies of up to 50 instructions (fma, loads, addresses), or if
  // all steps of a loop are meant; then it mixes them, and of more than two some accumulators leave
  // the registers.
  const bool is_long = body({int(s.size()), int(s[0].size())}) + how.beside_body > long_body;
  const int unroll = !is_long ? 4 : how.rare ? 1 : 2;
  const auto steps = [&](Block& at, const Expr& from, const Expr& to) {
    Block k = at.loop("k", from, to, 1, unroll);
    if (how.beside) how.beside(k, name("k", Type::index));
    step(k, s, o, c.lanes);
  };
  // `whole` steps from `from` on, a multiple of `unroll`.
  const auto unrolled = [&](Block& at, const Expr& from, long whole) {
    if (!is_long) return steps(at, from, from + Expr(whole));
    Block some = at.loop("two", from, from + Expr(whole), unroll);
    steps(some, name("two", Type::index), name("two", Type::index) + Expr(unroll));
  };
  const bool at_once = how.ahead && how.every >= depth->integer;
  if (at_once) how.ahead(b, 0);
  const long lines = how.ahead && !at_once ? depth->integer / how.every * how.every : 0;
  if (lines > 0) {
    Block some = b.loop("from", 0, lines, how.every);
    how.ahead(some, name("from", Type::index));
    unrolled(some, name("from", Type::index), how.every);
  }
  if (!is_long || how.rare || !depth.constant()) {
    if (!depth.is(lines)) steps(b, lines, depth);
    return;
  }
  const long whole = (depth->integer - lines) / unroll * unroll;
  if (whole > 0) unrolled(b, lines, whole);
  if (!depth.is(lines + whole)) steps(b, lines + whole, depth);
}

void each_tile(Block& b, const std::string& row, const Cut& c, const std::function<void(Block&, int height, const Expr& row)>& f) {
  const auto tiles = [&](long from, long count, long height) {
    if (count == 0) return;
    Block at = count > 1 ? b.loop(row, from, from + count * height, height) : b.scope();
    f(at, int(height), count > 1 ? name(row, Type::index) : Expr(from));
  };
  tiles(0, c.taller, c.height + 1);
  tiles(c.rows_taller(), c.others, c.height);
}

Expr load_vector(Expr pointer, long part) {
  if (part >= 0) return call("load_part", Type::vec, {std::move(pointer), part});
  return call("load", Type::vec, {std::move(pointer)});
}
Expr store_vector(Expr pointer, Expr value, long part) {
  if (part >= 0) return call("store_part", Type::none, {std::move(pointer), std::move(value), part});
  return call("store", Type::none, {std::move(pointer), std::move(value)});
}

Function& Context::function(std::string n, std::string comment, std::vector<Parameter> parameters) {
  Function f;
  f.name = std::move(n);
  f.comment = std::move(comment);
  f.parameters = std::move(parameters);
  kernel.functions.push_back(std::move(f));
  return kernel.functions.back();
}
bool Context::has(const std::string& n) const {
  return std::any_of(kernel.functions.begin(), kernel.functions.end(), [&](const Function& f) { return f.name == n; });
}

}  // namespace attune::loops
