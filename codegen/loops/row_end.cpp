// What a block's rows come to at the end: the factor of their sums, and the numbers that are wanted of
// their state.
#include "loops/stream.h"

namespace attune::loops {

bool StreamCode::scales_result() const { return !(s_.algebra.scale.is(Fn::constant) && s_.algebra.scale.terms.back().value == 1); }

// On the fast path, of rows with a peak: those that kept no pair have it where it was at the start, and
// a total of 0, which no row has whose scores are all the lowest float.
Expr StreamCode::nothing_counted(int v) const {
  const auto load = [&](long slot) { return call("load", Type::vec, {local(slot + v * lanes_)}); };
  const auto splat = [](const Expr& x) { return call("splat", Type::vec, {x}); };
  return call("both", Type::lanes, {call("less_equal", Type::lanes, {load(at_.peak()), splat(float_lowest())}), call("equal", Type::lanes, {load(at_.total()), splat(real(0))})});
}

// What the rows' sums are multiplied by, in the place of the carry. A row without a pair that counts is 0;
// on the fast path its total may make it NaN, for the safe path to mend, where no such row is expected.
void StreamCode::set_factors(Block& b, const RowBlocks& r, Path path) {
  for (int v = 0; v < r.tile.vectors; ++v) {
    const auto load = [&](long slot) { return call("load", Type::vec, {local(slot + v * lanes_)}); };
    ElementCode e = at_lane(s_.algebra.scale, r, v, 0);
    e.total = load(at_.total());
    e.peak = load(at_.peak());
    const auto splat = [](double x) { return call("splat", Type::vec, {real(x)}); };
    Expr factor = e();
    if (path == Path::safe) factor = call("select", Type::vec, {call("equal", Type::lanes, {load(at_.kept()), splat(1)}), factor, splat(0)});
    else if (p_.rows_without_any && s_.algebra.tracks_peak) factor = call("select", Type::vec, {nothing_counted(v), splat(0), factor});
    b.run(call("store", Type::none, {local(at_.carry() + v * lanes_), factor}));
  }
}

// What is wanted of the rows beside the weighted sums: on the fast path where it belongs, on the safe
// one in the worker's memory, since only some rows are replaced. On the fast path, without a peak, the
// total of 0 itself makes the number of a row in which nothing counts.
void StreamCode::store_row_values(Block& b, const RowBlocks& r, Path path, bool nothing_counts) {
  for (std::size_t k = 0; k < s_.values.size(); ++k) {
    b.blank();
    const RowValue& value = s_.values[k].value;
    for (int v = 0; v < r.tile.vectors; ++v) {
      const auto load = [&](long slot) { return call("load", Type::vec, {local(slot + v * lanes_)}); };
      const auto splat = [](const Expr& x) { return call("splat", Type::vec, {x}); };
      ElementCode e = at_lane(value.value, r, v, 0);
      ElementCode of_nothing = e;
      of_nothing.total = splat(real(0));
      of_nothing.peak = splat(number(value.peak_of_nothing));
      e.total = load(at_.total());
      e.peak = load(at_.peak());
      if (binary_ && path == Path::fast) e.peak = splat(real(std::numbers::ln2)) * e.peak;
      Expr nothing;
      if (path == Path::safe) nothing = call("equal", Type::lanes, {load(at_.kept()), splat(real(0))});
      else if (s_.algebra.tracks_peak) nothing = nothing_counted(v);
      Expr x = nothing_counts ? of_nothing() : e();
      if (!nothing_counts && path == Path::safe && !value.value.uses(Fn::total)) x = call("select", Type::vec, {call("equal", Type::lanes, {e.total, e.total}), x, e.total});  // a peak loses NaN
      if (!nothing_counts && nothing) x = call("select", Type::vec, {nothing, of_nothing(), x});
      const long part = v == r.tile.vectors - 1 && r.rows % lanes_ ? r.rows % lanes_ : -1;
      if (path == Path::safe) b.run(call("store", Type::none, {local(at_.row_values() + long(k) * at_.rows + v * lanes_), x}));
      else b.run(store_vector(address(c_.memory, s_.values[k].out, e.at), x, part));
    }
  }
}

// What becomes of a block's rows that are done, while they are near.
std::string StreamCode::end_block(const RowBlocks& r) {
  Function f;
  f.name = fmt::format("{}_end_{}_rows", c_.prefix, r.rows);
  f.comment = fmt::format("What becomes of {} rows that are done.", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "nth"}};
  Block b(f.body);
  place(b, r);
  Block i = b.loop("i", 0, r.rows);
  each_vector(i, [&](Block& at, const Expr& n, long part) {
    const Expr p = name("out", Type::out) + Expr(out_row()) * index("i") + n;
    ElementCode e;
    e.memory = &c_.memory;
    e.expression = &s_.after;
    e.at = {index("c0"), index("c1"), index("row") + index("i"), n};
    e.lane_axis = 3;
    e.part = part;
    e.acc = at.let(part < 0 ? "x" : "rest", load_vector(p, part));
    at.run(store_vector(p, e(), part));
  });
  c_.kernel.functions.push_back(std::move(f));
  return c_.kernel.functions.back().name;
}

}  // namespace attune::loops
