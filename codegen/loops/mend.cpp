// What becomes of rows whose reference was a poor guess: their weights left the range. What a row gets
// depends on its own weights alone, never on its neighbours'.
#include "loops/stream.h"

namespace attune::loops {

// The sum of a row's weights over a block of columns up to which its reference serves, 2^40: what it
// is multiplied by may be as large as 2^87.
Expr StreamCode::in_range(const Expr& total) const { return at_most(total, 0x1p40); }

// Of weights e^(score - peak) one that is NaN is so whatever the reference: only the safe path helps.
Expr StreamCode::at_most(const Expr& total, double limit) const {
  const Expr most = call("splat", Type::vec, {real(limit)});
  return lowers_ ? call("not_less", Type::lanes, {most, total}) : call("less_equal", Type::lanes, {total, most});
}

// Up to 2^120 the weights themselves say how far the reference must rise. Accumulators that start at
// -peak lose accuracy, though, where they pass by much more than the scores: with a peak far below 0.
Expr StreamCode::can_be_lowered(const Expr& total, const Expr& peak) const {
  if (!lowers_) return in_range(total);
  const auto splat = [](double x) { return call("splat", Type::vec, {real(x)}); };
  const Expr finite = at_most(total, 0x1p120);
  if (!binary_) return finite;
  const Expr near_zero = call("less_equal", Type::lanes, {splat(-4) * peak, call("exponent_of", Type::vec, {total})});
  return call("either", Type::lanes, {in_range(total), call("both", Type::lanes, {finite, near_zero})});
}

Expr StreamCode::some_row_is_not(Block& b, const RowBlocks& r, Ask ask) {
  Expr all;
  for (int v = 0; v < r.tile.vectors; ++v) {
    const auto load = [&](long slot) { return call("load", Type::vec, {local(slot + v * lanes_)}); };
    const Expr total = load(at_.block_total());
    const Expr is = ask == Ask::in_range ? in_range(total) : can_be_lowered(total, load(at_.peak()));
    all = b.let(fmt::format("inside{}", v), all ? call("both", Type::lanes, {all, is}) : is);
  }
  return call("any", Type::flag, {call("negation", Type::lanes, {all})});
}

// The rows' older sums follow their peaks.
std::string StreamCode::carry_over(const RowBlocks& r) {
  const std::string n = fmt::format("{}_carry_over_{}", c_.prefix, r.rows);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("What {} rows have summed so far, multiplied by their carries.", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, local_parameter()};
  Block b(f.body);
  for (int v = 0; v < r.tile.vectors; ++v) {
    const auto slot = [&](long offset) { return call("load", Type::vec, {local(offset + v * lanes_)}); };
    b.run(call("store", Type::none, {local(at_.total() + v * lanes_), slot(at_.carry()) * slot(at_.total())}));
  }
  if (values_alone()) {
    c_.kernel.functions.push_back(std::move(f));
    return n;
  }
  b.blank();
  const Expr out = b.let("out", address(c_.memory, s_.out, {index("c0"), index("c1"), index("row"), 0}));
  Block i = b.loop("i", 0, r.rows);
  const Expr carry = i.let("carry", call("splat", Type::vec, {element(local(at_.carry()), index("i"))}));
  each_vector(i, [&](Block& at, const Expr& n, long part) {
    const Expr p = out + Expr(out_row()) * index("i") + n;
    at.run(store_vector(p, carry * load_vector(p, part), part));
  });
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

void StreamCode::carry_if_older(Block& at, const RowBlocks& r) {
  Block older = at.when(call("!", Type::flag, {name("fresh", Type::flag)}));
  older.run(call(carry_over(r), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), name("local", Type::out)}));
}

// Moves the reference of rows out of range to where it should have been, and their weights with it.
std::string StreamCode::lower_weights(const RowBlocks& r) {
  const std::string n = fmt::format("{}_lower_weights_{}", c_.prefix, r.rows);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Of {} rows, those whose weights are too large get a higher peak; their weights follow.", r.rows);
  f.parameters = {local_parameter(), {Type::index, "count"}};
  Block b(f.body);
  Block i = b.loop("i", 0, long(r.tile.vectors) * lanes_, lanes_);
  const auto slot = [&](long offset) { return local(offset) + index("i"); };
  const auto load = [](const Expr& p) { return call("load", Type::vec, {p}); };
  const auto splat = [](double x) { return call("splat", Type::vec, {real(x)}); };
  const Expr total = i.let("total", load(slot(at_.block_total())));
  const Expr inside = i.let("inside", in_range(total));
  const Expr rise = i.let("rise", call("select", Type::vec, {inside, splat(0), call("exponent_of", Type::vec, {total})}));
  const Expr old = i.let("old", load(slot(at_.peak())));
  const Expr peak = i.let("peak", old + (binary_ ? rise : splat(std::numbers::ln2) * rise));
  const Expr carry = i.let("carry", binary_ ? call("select", Type::vec, {inside, splat(1), call("inverse_power", Type::vec, {total})}) : rescale_of(old, peak));
  const auto set = [&](long offset, const Expr& x) { i.run(call("store", Type::none, {slot(offset), x})); };
  set(at_.peak(), peak);
  set(at_.shift(), shift_of(peak));
  set(at_.carry(), carry);
  set(at_.block_total(), carry * total);
  Block some = i.when(call("any", Type::flag, {call("negation", Type::lanes, {inside})}));
  Block j = some.loop("j", 0, index("count"));
  const Expr p = slot(at_.scores()) + Expr(at_.rows) * index("j");
  j.run(call("store", Type::none, {p, carry * load(p)}));
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

std::string StreamCode::mend(const RowBlocks& r, Columns kinds) {
  const std::string n = fmt::format("{}_mend_{}", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = fmt::format("Weights of {} rows and `count` columns, the first `from` of them made from scores, once more where they left the range.", r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "from"}, {Type::index, "count"}, {Type::index, "whole_begin"}, {Type::index, "whole_end"}, local_parameter(), {Type::flag, "fresh"}};
  Block b(f.body);
  const auto by_scores = [&](Block& at) {
    set_state(at, r, at_.block_peak(), float_lowest());
    run_bands(at, r, kinds, Gives::scores, 0);
    run_weigh(at, r, index("col"), index("from"), false);
    if (!p_.one_visit) carry_if_older(at, r);
    run_bands(at, r, kinds, Gives::weights, index("from"));
  };
  if (lowers_) {
    b.comment("Too large for that: the greatest score becomes the reference.");
    Block lost = b.when(some_row_is_not(b, r, Ask::can_be_lowered));
    by_scores(lost);
    b.blank();
    b.run(call(lower_weights(r), Type::none, {name("local", Type::out), index("count")}));
    if (!p_.one_visit) carry_if_older(b, r);
  } else {
    by_scores(b);
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
