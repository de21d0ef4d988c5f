// Tiles whose weights are made by the tile after. Where a tile's sums hold the registers, its exponentials can't begin
// before it ends. So a tile leaves its scores in memory, and the next one turns them into weights between its steps;
// bench/README.md says what that gains.
#include "loops/stream.h"

namespace attune::loops {

bool StreamCode::weighs_late(const RowBlocks& r) const {
  return binary_ && !factors() && last_part(r) < 0 && s_.dots[0].depth >= std::max(r.tile.rows, r.tile.vectors) && step_apart(*c_.kernel.schedule->isa, r.tile, operands(s_.dots[0], 0, name("rows", Type::in)));
}

static Expr weigh_vector(long rows, int lanes, const char* scores, const Expr& i, const Expr& v) {
  const Expr vector = Expr(lanes) * v;
  return call("exp2_near_in_place", Type::none, {name(scores, Type::out) + Expr(rows) * i + vector, name("block_total", Type::out) + vector});
}

// Scores of t.rows columns against t.vectors vectors of rows, less the references; and the weights of the tile
// before, at `late`, if there is one.
std::string StreamCode::late_tile(Tile t) {
  const std::string n = fmt::format("{}_late_{}x{}", c_.prefix, t.rows, t.vectors * lanes_);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} columns x {} rows of scores; those of the tile before, if any is late, become weights between the steps.", t.rows, t.vectors * lanes_);
  f.parameters = joined({memory_parameter(), {Type::in, "rows"}}, column_parameters(), {{Type::out, "scores"}, {Type::out, "late"}, {Type::in, "shift"}, {Type::out, "block_total"}, {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}});
  Block b(f.body);
  std::vector<Expr> start;
  for (int v = 0; v < t.vectors; ++v) start.push_back(b.let(fmt::format("start{}", v), call("load", Type::vec, {name("shift", Type::in) + Expr(v * lanes_)})));
  const Accumulators s = declare_accumulators(b, t, start);
  // Either way a row's weights are added in the order of columns. A group of steps for each of the outer ones is best of
  // whole lines, so that it can ask for its share of what comes next.
  const auto whole_lines = [&](int outer) { return s_.dots[0].depth % (outer * Steps::line) == 0; };
  const bool by_columns = whole_lines(std::max(t.rows, t.vectors)) || !whole_lines(std::min(t.rows, t.vectors)) ? t.rows >= t.vectors : t.rows < t.vectors;
  Expr rows = name("rows", Type::in);
  for (std::size_t i = 0; i < s_.dots.size(); ++i) {
    const Dot& d = s_.dots[i];
    Block at = s_.dots.size() > 1 ? b.scope() : b;
    Steps how;
    if (i == 0) {
      how.between = {by_columns ? t.rows : t.vectors, by_columns ? t.vectors : t.rows, [&](Block& in, const Expr& o, int k) { in.run(by_columns ? weigh_vector(at_.rows, lanes_, "late", o, k) : weigh_vector(at_.rows, lanes_, "late", k, o)); }};
    }
    ask(how, at, t, i);
    const auto product = [&](Block& in) { accumulate(c_, in, s, d.depth, operands(d, i, rows), how); };
    if (i == 0) {
      Block some = at.when(name("late", Type::flag));
      product(some);
      Block none = at.otherwise();
      how.between.run = {};
      product(none);
    } else {
      product(at);
    }
    rows = rows + Expr(d.depth * at_.rows);
  }
  b.blank();
  for (int i = 0; i < t.rows; ++i)
    for (int v = 0; v < t.vectors; ++v) b.run(call("store", Type::none, {name("scores", Type::out) + Expr(at_.rows * i + v * lanes_), s[std::size_t(i)][std::size_t(v)]}));
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

std::string StreamCode::weigh_tile(Tile t) {
  const std::string n = fmt::format("{}_weigh_{}x{}", c_.prefix, t.rows, t.vectors * lanes_);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} columns x {} rows of scores, less the references, become weights.", t.rows, t.vectors * lanes_);
  f.parameters = {{Type::out, "scores"}, {Type::out, "block_total"}};
  Block b(f.body);
  Block i = b.loop("i", 0, t.rows);
  for (int v = 0; v < t.vectors; ++v) i.run(weigh_vector(at_.rows, lanes_, "scores", index("i"), v));
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

void StreamCode::weigh_what_is_late(Block& at, Tile t) {
  Block some = at.when(name("late", Type::flag));
  some.run(call(weigh_tile(t), Type::none, {name("late", Type::out), local(at_.block_total())}));
}

}  // namespace attune::loops
