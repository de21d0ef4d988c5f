// The definition of a stream's rows: a reduction over exactly the pairs that count, in natural units,
// with the greatest score so far as the peak. What removed pairs hold does not exist for it. Rows whose
// fast result is not finite are computed again by this, in their block.
#include "loops/stream.h"

namespace attune::loops {

// A positive scale leaves the order of the tiles' sums as it is: then the fast path's tiles serve, and
// the weighing multiplies.
bool StreamCode::scales_last() const { return s_.element.is(Fn::acc) && s_.scale >= 0x1p-126 && s_.scale < 0x1p127; }

// As `weigh`, for all rows; and a removed pair, whose score is -inf, weighs -0, which no weight is that
// counts: 0 is one, since it makes NaN of an infinite value.
std::string StreamCode::weigh_safely(const RowBlocks& r) {
  const int vectors = r.tile.vectors;
  const std::string n = weigh_name(r, "_safely");
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Scores of {} rows become weights, those of removed pairs -0; the rows' state follows.", vectors * lanes_);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, local_parameter(), {Type::index, "count"}};
  Block b(f.body);
  const auto slot = [&](long offset, int v) { return local(offset + v * lanes_); };
  const auto load = [](const Expr& p) { return call("load", Type::vec, {p}); };
  const auto splat = [](const Expr& x) { return call("splat", Type::vec, {x}); };
  const auto select = [](const Expr& m, const Expr& x, const Expr& y) { return call("select", Type::vec, {m, x, y}); };
  const auto scaled = [&](const Expr& x) { return scales_last() && s_.scale != 1 ? splat(real(s_.scale)) * x : x; };
  const Expr removed_score = b.let("removed", splat(minus_infinity()));
  std::vector<Expr> peak, total, all;
  for (int v = 0; v < vectors; ++v) {
    b.blank();
    peak.push_back({});
    if (s_.algebra.tracks_peak) {
      const Expr old = b.let(fmt::format("old{}", v), load(slot(at_.peak(), v)));
      peak.back() = b.let(fmt::format("peak{}", v), call("max", Type::vec, {old, scaled(load(slot(at_.block_peak(), v)))}));
      b.run(call("store", Type::none, {slot(at_.peak(), v), peak.back()}));
      if (rescales_) {  // of a row that has summed something, and only where its peak rises
        ElementCode e = by_algebra(s_.algebra.rescale);
        e.old_peak = old;
        e.peak = peak.back();
        const Expr rises = call("both", Type::lanes, {call("less", Type::lanes, {old, peak.back()}), call("equal", Type::lanes, {load(slot(at_.kept(), v)), splat(real(1))})});
        b.run(call("store", Type::none, {slot(at_.carry(), v), select(rises, e(), splat(real(1)))}));
      }
    }
    total.push_back(b.var(fmt::format("total{}", v), splat(real(0))));
    all.push_back(b.var(fmt::format("all{}", v), call("all_lanes", Type::lanes, {name("true", Type::flag)})));
  }
  b.blank();
  const Expr some = b.var("some", name("false", Type::flag)), before = b.var("before_holes", Expr(0));
  Expr holes;
  Block j = b.loop("j", 0, index("count"));
  for (int v = 0; v < vectors; ++v) {
    const auto of = [&](const char* n) { return fmt::format("{}{}", n, v); };
    const std::size_t i = std::size_t(v);
    const Expr p = local(at_.scores()) + Expr(at_.rows) * index("j") + Expr(v * lanes_);
    const Expr score = j.let(of("score"), scaled(load(p)));
    const Expr hole = j.let(of("hole"), call("equal", Type::lanes, {score, removed_score}));
    ElementCode e = by_algebra(s_.algebra.weight);
    e.acc = score;
    e.peak = peak[i];
    const Expr w = j.let(of("w"), select(hole, splat(real(-0.0)), e() + splat(real(0))));
    ElementCode met = at_lane(s_.factored, r, v, index("col") + index("j"));
    met.acc = w;
    j.run(call("store", Type::none, {p, factors() ? select(hole, splat(real(-0.0)), met() + splat(real(0))) : w}));
    j.assign(total[i], total[i] + w);
    j.assign(all[i], call("both", Type::lanes, {all[i], hole}));
    holes = holes ? call("either", Type::lanes, {holes, hole}) : hole;
  }
  const Expr hole = j.let("hole", call("any", Type::flag, {holes}));
  j.assign(element(local(at_.holes()), index("j")), choose(hole, real(1), real(0)));
  j.assign(some, binary("||", some, hole, Type::flag));
  j.assign(before, choose(some, before, index("j") + Expr(1)));
  b.blank();
  b.assign(element(local(at_.before_holes()), 0), call("float", Type::real, {before}));
  for (int v = 0; v < vectors; ++v) {
    const std::size_t i = std::size_t(v);
    b.blank();
    b.run(call("store", Type::none, {slot(at_.block_total(), v), total[i]}));
    b.run(call("store", Type::none, {slot(at_.kept(), v), select(all[i], load(slot(at_.kept(), v)), splat(real(1)))}));
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

// A block of columns for rows that were turned without their scale.
std::string StreamCode::visit_safely(const RowBlocks& r, Columns kinds) {
  const std::string n = fmt::format("{}_visit_{}_safely", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = fmt::format("{} rows against `count` columns from col on, by the definition.", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "count"}, {Type::index, "whole_begin"}, {Type::index, "whole_end"}, local_parameter(), {Type::flag, "fresh"}};
  Block b(f.body);
  if (s_.algebra.tracks_peak) set_state(b, r, at_.block_peak(), minus_infinity());
  const Gives gives = scales_last() || s_.scale == 1 ? Gives::scores : Gives::natural;
  run_bands(b, r, kinds, gives, 0);
  b.run(call(weigh_safely(r), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), name("local", Type::out), index("count")}));
  if (rescales_ && direct_) carry_if_older(b, r);
  b.blank();
  const auto folded = [&](Block& at, Fold h) { at.run(call(fold(r, h), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), index("count"), name("local", Type::out), name("fresh", Type::flag)})); };
  Block some = b.when(binary("<", before_holes(), index("count"), Type::flag));
  folded(some, Fold::adds_with_holes);
  Block none = b.otherwise();
  folded(none, Fold::adds);
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

// Whether a row is not finite: x - x is 0, or NaN if x is not. `place_of` says where its element n lies.
Expr StreamCode::is_odd(Block& row, const std::function<Expr(const Expr& n)>& place_of) const {
  const Expr odd = row.var("odd", call("splat", Type::vec, {real(0)}));
  each_vector(row, [&](Block& at, const Expr& n, long part) {
    const Expr x = at.let(part < 0 ? "x" : "rest", load_vector(place_of(n), part));
    at.assign(odd, odd + (x - x));
  });
  return call("has_nan", Type::flag, {odd});
}

// Whether the fast path has lost all rows, whose sums so far do not become finite again. Most of the time the
// first row answers.
std::string StreamCode::no_row_is_finite(const RowBlocks& r) {
  const std::string n = fmt::format("{}_no_row_of_{}_is_finite", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = fmt::format("Whether all {} rows are for the safe path already.", r.rows);
  f.result = Type::flag;
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}};
  Block b(f.body);
  const Expr out = b.let("out", address(c_.memory, s_.out, {index("c0"), index("c1"), index("row"), 0}));
  Block i = b.loop("i", 0, r.rows);
  Block finite = i.when(call("!", Type::flag, {is_odd(i, [&](const Expr& n) { return out + Expr(out_row()) * index("i") + n; })}));
  finite.text("return false;");
  b.text("return true;");
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

// All rows of the block are computed where the fast path left its results, which are put by.
std::string StreamCode::safe_rows(const RowBlocks& r) {
  const std::string n = fmt::format("{}_{}_rows_safely", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = "Rows of the block that are not finite are computed again, over exactly the pairs that count; the others keep every bit.";
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "nth"}, local_parameter()};
  Block b(f.body);
  const Expr i = place(b, r);
  const Expr out = name("out", Type::out);
  const auto result = [&](const Expr& n) { return out + Expr(out_row()) * index("i") + n; };
  const auto fast = [&](const Expr& n) { return local(at_.fast()) + Expr(at_.width) * index("i") + n; };
  Block keep = b.loop("i", 0, r.rows);
  if (values_alone()) keep.assign(element(fast(0), 0), element(local(at_.total()), index("i")));
  each_vector(keep, [&](Block& at, const Expr& n, long part) { at.run(store_vector(fast(n), load_vector(result(n), part), part)); });
  b.blank();
  turn_rows(b, r, 1);
  b.blank();
  if (s_.algebra.tracks_peak) set_state(b, r, at_.peak(), float_lowest());
  set_state(b, r, at_.total(), real(0));
  set_state(b, r, at_.kept(), real(0));
  declare_fresh(b);
  visit_runs(b, r, i, Path::safe);
  b.blank();
  store_row_values(b, r, Path::safe);
  if (scales_result()) set_factors(b, r, Path::safe);
  Block each = b.loop("i", 0, r.rows);
  Expr lost_it;
  if (values_alone()) {
    const Expr total = each.let("total", element(fast(0), 0));
    lost_it = binary("!=", total - total, real(0), Type::flag);
  } else {
    lost_it = is_odd(each, fast);
  }
  const auto restore = [&](Block& finite) { each_vector(finite, [&](Block& at, const Expr& n, long part) { at.run(store_vector(result(n), load_vector(fast(n), part), part)); }); };
  if (!scales_result() && s_.values.empty()) {
    Block finite = each.when(call("!", Type::flag, {lost_it}));
    restore(finite);
  } else {
    Block lost = each.when(lost_it);
    if (scales_result()) {
      const Expr factor = lost.let("factor", call("splat", Type::vec, {element(local(at_.carry()), index("i"))}));
      each_vector(lost, [&](Block& at, const Expr& n, long part) { at.run(store_vector(result(n), factor * load_vector(result(n), part), part)); });
    }
    for (std::size_t k = 0; k < s_.values.size(); ++k) {
      const Expr to = address(c_.memory, s_.values[k].out, {index("c0"), index("c1"), index("row") + index("i"), 0});
      lost.assign(element(to, 0), element(local(at_.row_values() + long(k) * at_.rows), index("i")));
    }
    if (!values_alone()) {
      Block finite = each.otherwise();
      restore(finite);
    }
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
