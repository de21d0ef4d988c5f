// Scores of a block of rows against a block of columns, and their weights.
#include "loops/stream.h"

namespace attune::loops {

std::vector<Parameter> StreamCode::column_parameters() const {
  std::vector<Parameter> all;
  for (std::size_t i = 0; i < s_.dots.size(); ++i) all.push_back({Type::in, of_dot("b", i)});
  return all;
}
std::vector<Expr> StreamCode::columns_on(const Expr& j) const {
  std::vector<Expr> all;
  for (std::size_t i = 0; i < s_.dots.size(); ++i) all.push_back(name(of_dot("b", i), Type::in) + Expr(b_col(s_.dots[i])) * j);
  return all;
}
std::vector<Expr> StreamCode::columns_at(const Expr& col) const {
  std::vector<Expr> all;
  for (const Dot& d : s_.dots) all.push_back(address(c_.memory, d.b, {index("c0"), index("c1"), col, 0}));
  return all;
}
void StreamCode::declare_columns(Block& b, const Expr& col) const {
  const std::vector<Expr> at = columns_at(col);
  for (std::size_t i = 0; i < at.size(); ++i) b.let(of_dot("b", i), at[i]);
}

// A band of `height` columns of which pairs are removed. Vectors of rows at the ends that keep nothing
// of it are skipped; those between are one tile.
std::string StreamCode::part_band(const RowBlocks& r, int height, Gives gives) {
  const bool weights = gives == Gives::weights;
  const std::string n = fmt::format("{}_{}_in_part_{}x{}", c_.prefix, named(gives), height, r.rows);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} columns x {} rows where pairs are removed; vectors of rows that keep none are skipped.", height, r.rows);
  f.parameters = joined({memory_parameter()}, column_parameters(), {{Type::out, "scores"}, {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, local_parameter()});
  Block b(f.body);
  const int vectors = r.tile.vectors;
  const auto tile = [&](Block& at, const Expr& first, int count, bool to_the_end) {
    const Expr shift = Expr(lanes_) * first;
    at.run(call(score_tile({height, count}, true, to_the_end ? last_part(r) : -1, gives), Type::none,
                joined({memory_argument(), local(at_.at()) + shift}, columns_on(0), {name("scores", Type::out) + shift, local(at_.peak()) + shift, local(at_.shift()) + shift, local(at_.block_peak()) + shift, local(at_.block_total()) + shift, index("c0"), index("c1"), index("row") + shift, index("col")})));
  };
  std::vector<Expr> some;  // whether a vector keeps any of the band; empty: it may
  for (int v = 0; p_.hull && v < vectors; ++v) {
    const auto of_vector = [&](const Edge& e, const char* side) { return edge(b, e, side, index("row") / lanes_ + Expr(v), (s_.rows + lanes_ - 1) / lanes_, std::to_string(v)); };
    const Expr low = of_vector(p_.hull->low, "low"), high = of_vector(p_.hull->high, "high");
    Expr e;
    if (!(high.constant() && high->integer >= s_.cols)) e = binary("<", index("col"), high, Type::flag);
    if (!low.is(0)) {
      const Expr right = binary(">", index("col") + Expr(height), low, Type::flag);
      e = e ? binary("&&", e, right, Type::flag) : right;
    }
    if (e) some.push_back(b.let(fmt::format("some{}", v), e));
  }
  if (int(some.size()) < vectors) {
    tile(b, 0, vectors, true);
  } else {
    Expr first = vectors, end = 0;
    for (int v = vectors - 1; v >= 0; --v) first = choose(some[std::size_t(v)], v, first);
    for (int v = 0; v < vectors; ++v) end = choose(some[std::size_t(v)], v + 1, end);
    first = b.let("first", first);
    end = b.let("end", end);
    Block v = b.loop("v", 0, vectors);
    Block none = v.when(binary("||", binary("<", index("v"), first, Type::flag), binary(">=", index("v"), end, Type::flag), Type::flag));
    Block i = none.loop("i", 0, height);
    i.run(call("store", Type::none, {name("scores", Type::out) + Expr(at_.rows) * index("i") + Expr(lanes_) * index("v"), call("splat", Type::vec, {weights ? real(0) : minus_infinity()})}));
    for (int count = 1; count <= vectors; ++count) {
      Block these = b.when(binary("==", end - first, count, Type::flag));
      if (last_part(r) < 0 || count == vectors) {
        tile(these, first, count, true);
      } else {
        Block at_end = these.when(binary("==", end, vectors, Type::flag));
        tile(at_end, first, count, true);
        Block before = these.otherwise();
        tile(before, first, count, false);
      }
    }
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

// A band of columns, with all its pairs.
void StreamCode::whole_band(Block& at, const RowBlocks& r, Gives gives, int height, const std::vector<Expr>& columns, const Expr& to, const Expr& col) {
  at.run(call(score_tile({height, r.tile.vectors}, false, last_part(r), gives), Type::none, joined({memory_argument(), local(at_.at())}, columns, {to, local(at_.peak()), local(at_.shift()), local(at_.block_peak()), local(at_.block_total()), index("c0"), index("c1"), index("row"), col})));
}

// A band of columns from j on, kept whole or in part as where it stands says.
void StreamCode::band(Block& at, const RowBlocks& r, Columns kinds, Gives gives, int height, const Expr& j, bool late) {
  const Expr to = local(at_.scores()) + Expr(at_.rows) * j, col = index("col") + j;
  const auto all = [&](Block& in) {
    if (!late) return whole_band(in, r, gives, height, columns_on(j), to, col);
    in.run(call(late_tile(r.tile), Type::none, joined({memory_argument(), local(at_.at())}, columns_on(j), {to, name("late", Type::out), local(at_.shift()), local(at_.block_total()), index("c0"), index("c1"), index("row"), col})));
    in.assign(name("late", Type::out), to);
  };
  const auto part = [&](Block& in) {
    if (late) {
      weigh_what_is_late(in, r.tile);
      in.assign(name("late", Type::out), name("nullptr", Type::out));
    }
    in.run(call(part_band(r, height, gives), Type::none, joined({memory_argument()}, columns_on(j), {to, index("c0"), index("c1"), index("row"), col, name("local", Type::out)})));
  };
  if (!kinds.whole) return part(at);
  Expr inside;
  if (kinds.before) inside = binary(">=", col, index("whole_begin"), Type::flag);
  if (kinds.after) {
    const Expr left = binary("<", col, index("whole_end"), Type::flag);
    inside = inside ? binary("&&", inside, left, Type::flag) : left;
  }
  if (!inside) return all(at);
  Block in = at.when(inside);
  all(in);
  Block out = at.otherwise();
  part(out);
}

// All bands of a block of columns from column `from` of it on.
std::string StreamCode::bands(const RowBlocks& r, Columns kinds, Gives gives) {
  const bool weights = gives == Gives::weights;
  const std::string n = fmt::format("{}_{}_of_{}", c_.prefix, named(gives), r.rows);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} of {} rows and `count` columns from col on, the first `from` of them left out.", weights ? "Weights" : "Scores", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "from"}, {Type::index, "count"}, {Type::index, "whole_begin"}, {Type::index, "whole_end"}, local_parameter()};
  Block b(f.body);
  declare_columns(b, index("col"));
  const long left = s_.cols % r.tile.rows;  // runs end at a multiple of the tile, or where the columns end
  const bool late = weights && kinds.whole && weighs_late(r);
  if (late) b.var("late", name("nullptr", Type::out));
  Block j = b.loop("j", index("from"), index("count") - Expr(r.tile.rows - 1), r.tile.rows);
  band(j, r, kinds, gives, r.tile.rows, index("j"), late);
  if (late) weigh_what_is_late(b, r.tile);
  if (left) {
    const Expr rest = b.let("rest", index("count") / r.tile.rows * Expr(r.tile.rows));
    Block tail = b.when(binary("&&", binary("<", rest, index("count"), Type::flag), binary("<=", index("from"), rest, Type::flag), Type::flag));
    band(tail, r, kinds, gives, int(left), rest);
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

void StreamCode::run_bands(Block& at, const RowBlocks& r, Columns kinds, Gives gives, const Expr& from) {
  at.run(call(bands(r, kinds, gives), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), from, index("count"), index("whole_begin"), index("whole_end"), name("local", Type::out)}));
}

void StreamCode::set_state(Block& b, const RowBlocks& r, long slot, const Expr& value) {
  for (int v = 0; v < r.tile.vectors; ++v) b.run(call("store", Type::none, {local(slot + v * lanes_), call("splat", Type::vec, {value})}));
}

// The rows' peaks from the bands of columns that begin at `cols`, for a start; where a row keeps none of
// them, its first weights leave the range.
void StreamCode::reference(Block& b, const RowBlocks& r, const std::vector<Expr>& cols) {
  set_state(b, r, at_.block_peak(), float_lowest());
  for (const Expr& col : cols) {
    if (s_.keep) b.run(call(part_band(r, r.tile.rows, Gives::scores), Type::none, joined({memory_argument()}, columns_at(col), {local(at_.scores()), index("c0"), index("c1"), index("row"), col, name("local", Type::out)})));
    else whole_band(b, r, Gives::scores, r.tile.rows, columns_at(col), local(at_.scores()), col);
  }
  run_weigh(b, r, cols[0], 0, true);
}

// A block of columns: scores, weights, and the fold into the result. `first_band`: the first visit of
// a block of rows takes the rows' references from its first columns.
std::string StreamCode::visit(const RowBlocks& r, Columns kinds, bool first_band) {
  const std::string n = fmt::format("{}_visit_{}", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = fmt::format("{} rows against `count` columns from col on.", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "count"}, {Type::index, "whole_begin"}, {Type::index, "whole_end"}, local_parameter(), {Type::flag, "fresh"}};
  Block b(f.body);
  if (rescales_ && !direct_) set_state(b, r, at_.carry(), real(1));
  if (!direct_) {
    set_state(b, r, at_.block_peak(), float_lowest());
    run_bands(b, r, kinds, Gives::scores, 0);
    run_weigh(b, r, index("col"), index("count"), true);
  } else {
    set_state(b, r, at_.block_total(), real(0));
    Expr from = 0;
    if (s_.algebra.tracks_peak && first_band) {
      if (!p_.one_visit) {
        from = b.var("done", 0);
        b.blank();
      }
      // Where a table decides what is kept, most rows may keep nothing of the first band: all columns serve.
      const bool any_may_be_first = s_.keep && s_.keep->at_run_time;
      b.comment("The first columns give each row the score that the others are compared with.");
      Block first = p_.one_visit ? b.scope() : b.when(name("fresh", Type::flag));
      const bool tail = s_.cols % r.tile.rows != 0;
      declare_columns(first, index("col"));
      set_state(first, r, at_.block_peak(), float_lowest());
      if (any_may_be_first) {
        run_bands(first, r, kinds, Gives::scores, 0);
      } else if (tail) {
        Block few = first.when(binary("<", index("count"), r.tile.rows, Type::flag));
        band(few, r, kinds, Gives::scores, int(s_.cols % r.tile.rows), 0);
        Block many = first.otherwise();
        band(many, r, kinds, Gives::scores, r.tile.rows, 0);
      } else {
        band(first, r, kinds, Gives::scores, r.tile.rows, 0);
      }
      const Expr done = any_may_be_first ? index("count") : tail ? least(r.tile.rows, index("count")) : Expr(long(r.tile.rows));
      if (p_.one_visit) from = done;
      else first.assign(from, done);
      run_weigh(first, r, index("col"), from, true);
    }
    b.blank();
    run_bands(b, r, kinds, Gives::weights, from);
    if (s_.algebra.tracks_peak) {
      b.blank();
      b.comment("Where that score was a poor guess it is mended; the other rows keep every bit.");
      Block poor = b.when(some_row_is_not(b, r, Ask::in_range));
      poor.run(call(mend(r, kinds), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), from, index("count"), index("whole_begin"), index("whole_end"), name("local", Type::out), name("fresh", Type::flag)}));
    }
  }
  b.blank();
  b.run(call(fold(r, p_.one_visit ? Fold::ends : Fold::adds), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), index("count"), name("local", Type::out), name("fresh", Type::flag)}));
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
