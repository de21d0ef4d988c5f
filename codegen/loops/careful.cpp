// The definition of a stream's row, pair by pair: what removed pairs hold does not exist for it. Rows
// whose fast result is not finite are computed again by this.
#include "loops/stream.h"

namespace attune::loops {

std::string StreamCode::careful_row() {
  const std::string n = c_.prefix + "_careful_row";
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = "One row by its definition: over exactly the pairs that count, one at a time.";
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}};
  Block b(f.body);
  const std::array<Expr, region_rank> start{index("c0"), index("c1"), index("row"), 0};
  const Expr a = b.let("a", address(c_.memory, s_.a, start));
  const Expr out = b.let("out", address(c_.memory, s_.out, start));
  const bool peaks = s_.algebra.tracks_peak;
  const Expr peak = peaks ? b.var("peak", float_lowest()) : Expr();
  const bool sums = s_.algebra.scale.uses(Fn::total);
  const Expr total = sums ? b.var("total", real(0)) : Expr();
  const Expr kept = b.var("kept", name("false", Type::flag));
  b.blank();
  const auto splat = [](const Expr& x) { return call("splat", Type::vec, {x}); };
  // out = f(out), vector by vector
  const auto update = [&](Block& at, const std::function<Expr(const Expr& old, const Expr& n, long part)>& f) {
    each_vector(at, [&](Block& in, const Expr& n, long part) { in.run(store_vector(out + n, f(load_vector(out + n, part), n, part), part)); });
  };
  each_vector(b, [&](Block& in, const Expr& n, long part) { in.run(store_vector(out + n, splat(real(0)), part)); });
  b.blank();
  const auto [low, high] = hull(b, index("row") / lanes_, "");
  Block j = b.loop("col", low, high);
  const std::array<Expr, region_rank> pair{index("c0"), index("c1"), index("row"), index("col")};
  ElementCode e;
  e.memory = &c_.memory;
  e.at = pair;
  if (s_.keep) {
    e.expression = &s_.keep->code;
    Block removed = j.when(call("!", Type::flag, {e.truth(s_.keep->code.root())}));
    removed.text("continue;");
    j.blank();
  }
  const Expr column = j.let("b", address(c_.memory, s_.b, {index("c0"), index("c1"), index("col"), 0}));
  const long whole = a_depth() == 1 && b_depth() == 1 ? s_.depth / lanes_ * lanes_ : 0;
  Expr dot = real(0);
  if (whole > 0) {
    const Expr sum = j.var("sum", call("splat", Type::vec, {real(0)}));
    Block k = j.loop("k", 0, whole, lanes_);
    k.assign(sum, call("fma", Type::vec, {call("load", Type::vec, {a + index("k")}), call("load", Type::vec, {column + index("k")}), sum}));
    dot = call("reduce_add", Type::real, {sum});
  }
  dot = j.var("dot", dot);
  if (whole < s_.depth) {
    Block k = j.loop("k", whole, s_.depth);
    k.assign(dot, element(a, Expr(a_depth()) * index("k")) * element(column, Expr(b_depth()) * index("k")), "+=");
  }
  j.blank();
  e.expression = &s_.element;
  e.acc = s_.scale == 1 ? dot : real(s_.scale) * dot;
  if (!s_.element.is(Fn::acc)) e.acc = j.let("raw", e.acc);
  const Expr score = j.let("score", e());
  Block removed = j.when(binary("==", score, minus_infinity(), Type::flag));
  removed.text("continue;");
  j.assign(kept, name("true", Type::flag));
  j.blank();
  if (peaks) {
    j.comment("Older sums are worth less, the higher the peak.");
    Block rise = j.when(binary(">", score, peak, Type::flag));
    if (rescales_) {
      ElementCode r;
      r.memory = &c_.memory;
      r.expression = &s_.algebra.rescale;
      r.at = pair;
      r.old_peak = peak;
      r.peak = score;
      const Expr carry = rise.let("carry", r());
      if (sums) rise.assign(total, carry, "*=");
      update(rise, [&](const Expr& old, const Expr&, long) { return splat(carry) * old; });
    }
    rise.assign(peak, score);
  }
  j.blank();
  const Expr weight = j.let("weight", weight_of(score, peak));
  if (sums) j.assign(total, weight, "+=");
  const Expr v = j.let("v", address(c_.memory, s_.v, {index("c0"), index("c1"), index("col"), 0}));
  update(j, [&](const Expr& old, const Expr& n, long part) { return call("fma", Type::vec, {splat(weight), load_vector(v + n, part), old}); });
  b.blank();
  ElementCode scale;
  scale.memory = &c_.memory;
  scale.expression = &s_.algebra.scale;
  scale.at = start;
  scale.total = total;
  scale.peak = peak;
  const Expr factor = b.let("factor", choose(kept, scale(), real(0)));
  update(b, [&](const Expr& old, const Expr&, long) { return splat(factor) * old; });
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
