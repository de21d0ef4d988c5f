// The micro-kernels of a stream: scores, their weights, and the product with the values.
#include <algorithm>
#include <array>
#include <map>

#include "loops/stream.h"

namespace attune::loops {

bool StreamCode::reads_rows() const {
  const auto along_rows = [](const Expression& e) { return std::any_of(e.tensors.begin(), e.tensors.end(), [](const View& v) { return !v.dims[2].empty(); }); };
  return along_rows(s_.element) || along_rows(s_.factored) || along_rows(s_.algebra.scale) || std::any_of(s_.values.begin(), s_.values.end(), [&](const RowOutput& o) { return along_rows(o.value.value); }) || (s_.keep && along_rows(s_.keep->code));
}

Operands StreamCode::operands(const Dot& d, std::size_t i, const Expr& rows) const {
  return {c_.prefix + of_dot("_scores", i), name(of_dot("b", i), Type::in), b_col(d), *stride_of(d.b.dims[3]), rows, at_.rows};
}

namespace {

// Tensors whose rows lie apart and columns side by side, with an element for each pair: four columns of a
// vector of rows are loaded together and change places in registers.
class FourColumns {
 public:
  FourColumns(const Memory& m, Block& b, int columns) : memory_(m), b_(b), columns_(columns / 4 * 4) {}
  // Of vector v of rows and the i-th column, which `at` says in full.
  Expr operator()(const View& view, const ElementCode& at, bool integer, int i, int v) {
    if (i >= columns_ || at.part >= 0 || stride_of(view.dims[3]) != 1) return {};
    const std::string& buffer = memory_.program->buffers[std::size_t(view.buffer)].name;
    const Type type = integer ? Type::ivec : Type::vec;
    Loaded& l = loaded_[{buffer, v}];
    if (l.group != i / 4) {
      std::vector<std::pair<std::string, Expr>> names;
      for (int k = 0; k < 4; ++k) names.push_back({fmt::format("{}_of{}_{}", buffer, i / 4 * 4 + k, v), Expr()});
      std::array<Expr, region_rank> first = at.at;
      first[3] = first[3] - Expr(i % 4);
      std::vector<Expr> args{address(memory_, view, first), *stride_of(view.dims[2])};
      for (const auto& n : names) args.push_back(name(n.first, type));
      b_.declare(type, names);
      b_.run(call(integer ? "iload_four_columns" : "load_four_columns", Type::none, std::move(args)));
      l = {i / 4, view};
    }
    if (!(l.view == view)) return {};
    return name(fmt::format("{}_of{}_{}", buffer, i, v), type);
  }

 private:
  const Memory& memory_;
  Block& b_;
  int columns_;
  struct Loaded {
    int group = -1;
    View view = {};
  };
  std::map<std::pair<std::string, int>, Loaded> loaded_;
};

}  // namespace

// Scores of t.rows columns against t.vectors vectors of rows, stored as [column][row]: raw, with the
// greatest of each row kept in block_peak, raw and times the scale, or as weights, with their sums in
// block_total.
std::string StreamCode::score_tile(Tile t, bool keep, long last_part, Gives gives) {
  const bool weights = gives == Gives::weights;
  const std::string n = fmt::format("{}_{}_{}x{}{}{}", c_.prefix, named(gives), t.rows, t.vectors * lanes_, keep ? "_in_part" : "", last_part >= 0 ? "_last" : "");
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} columns x {} rows of {}{}.", t.rows, t.vectors * lanes_, weights ? "weights" : "scores", keep ? ", some of them removed" : "");
  f.parameters = joined({memory_parameter(), {Type::in, "rows"}}, column_parameters(), {{Type::out, "scores"}, {Type::in, "peak"}, {Type::in, "shift"}, {Type::out, "block_peak"}, {Type::out, "block_total"}, {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}});
  Block b(f.body);
  std::vector<Expr> start;
  for (int v = 0; weights && binary_ && v < t.vectors; ++v) start.push_back(b.let(fmt::format("start{}", v), call("load", Type::vec, {name("shift", Type::in) + Expr(v * lanes_)})));
  const Accumulators s = declare_accumulators(b, t, start);
  Expr rows = name("rows", Type::in);
  for (std::size_t i = 0; i < s_.dots.size(); ++i) {
    const Dot& d = s_.dots[i];
    Block at = s_.dots.size() > 1 ? b.scope() : b;
    Steps how{.rare = keep && !s_.keep->at_run_time};
    if (weights == direct_ && !how.rare && gives != Gives::natural) ask(how, at, t, i);
    accumulate(c_, at, s, d.depth, operands(d, i, rows), how);
    rows = rows + Expr(d.depth * at_.rows);
  }
  const auto slot = [&](const char* state, int v) { return name(state, Type::out) + Expr(v * lanes_); };
  const auto load = [](const Expr& p) { return call("load", Type::vec, {p}); };
  const Expr scores = name("scores", Type::out);
  b.blank();
  FourColumns four(c_.memory, b, t.rows);
  const Expr removed = keep ? b.let("removed", call("splat", Type::vec, {minus_infinity()})) : Expr();
  for (int v = 0; v < t.vectors; ++v) {
    b.blank();
    const Expr lane_rows = b.let(fmt::format("row_of_lane{}", v), call("isplat", Type::ivec, {index("row") + Expr(v * lanes_)}) + call("iota", Type::ivec, {}));
    std::vector<Expr> all;
    const bool peaks = s_.algebra.tracks_peak;
    const Expr peak = weights && peaks ? load(slot("peak", v)) : Expr();
    const Expr shift = weights && peaks && !binary_ ? b.let(fmt::format("shift{}", v), load(slot("shift", v))) : Expr();
    for (int i = 0; i < t.rows; ++i) {
      ElementCode e;
      e.memory = &c_.memory;
      e.expression = &s_.element;
      e.at = {index("c0"), index("c1"), index("row") + Expr(v * lanes_), index("col") + Expr(i)};
      e.lane_axis = 2;
      e.lanes_at = lane_rows;
      e.part = v == t.vectors - 1 ? last_part : -1;
      e.acc = s[std::size_t(i)][std::size_t(v)];
      e.at_hand = [&, i, v](const View& view, const ElementCode& at, bool integer) { return four(view, at, integer, i, v); };
      const bool natural = gives == Gives::natural && s_.scale != 1;
      if (natural) e.acc = b.let(fmt::format("raw{}_{}", i, v), call("splat", Type::vec, {real(s_.scale)}) * e.acc);
      const bool plain = s_.element.is(Fn::acc);
      Expr x = plain ? e.acc : e();
      if (keep) {
        ElementCode k = e;
        k.expression = &s_.keep->code;
        x = call("select", Type::vec, {k.truth(s_.keep->code.root()), x, removed});
      }
      if (!plain || keep) x = b.let(fmt::format("x{}_{}", i, v), x);
      if (weights) x = b.let(fmt::format("w{}_{}", i, v), weight_of(x, peak, shift));
      ElementCode f = e;
      f.expression = &s_.factored;
      f.acc = x;
      b.run(call("store", Type::none, {scores + Expr(at_.rows * i + v * lanes_), weights && factors() ? f() : x}));
      all.push_back(x);
    }
    if (weights) {  // in the order of columns whatever the tile, so that a row's bits don't depend on it
      Expr sum = load(slot("block_total", v));
      for (const Expr& w : all) sum = sum + w;
      b.blank();
      b.run(call("store", Type::none, {slot("block_total", v), sum}));
      continue;
    }
    if (!peaks) continue;
    b.blank();
    for (int level = 0; all.size() > 1; ++level) {  // a tree, so that no chain of maxima is waited for
      if (level == 2)
        for (std::size_t i = 0; i < all.size(); ++i) all[i] = b.let(fmt::format("high{}_{}", i, v), all[i]);
      std::vector<Expr> half;
      for (std::size_t i = 0; i + 1 < all.size(); i += 2) half.push_back(call("max", Type::vec, {all[i], all[i + 1]}));
      if (all.size() % 2) half.push_back(all.back());
      all = half;
    }
    b.run(call("store", Type::none, {slot("block_peak", v), call("max", Type::vec, {load(slot("block_peak", v)), all[0]})}));
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

ElementCode StreamCode::by_algebra(const Expression& x) const {
  ElementCode e;
  e.memory = &c_.memory;
  e.expression = &x;
  e.at = {0, 0, 0, 0};
  e.lane_axis = 2;
  return e;
}

Expr StreamCode::weight_of(const Expr& score, const Expr& peak, const Expr& shift) const {
  if (binary_) return call("exp2_near", Type::vec, {shift ? score + shift : score});
  ElementCode e = by_algebra(s_.algebra.weight);
  e.acc = score;
  e.peak = peak;
  e.shift = shift;
  return e();
}

Expr StreamCode::shift_of(const Expr& peak) const {
  return binary_ ? call("splat", Type::vec, {real(0)}) - peak : call("shift_of", Type::vec, {peak});
}

// What older sums are multiplied by when the peaks of a vector of rows rise.
Expr StreamCode::rescale_of(const Expr& old, const Expr& peak) const {
  if (binary_) return call("exp2_nonpositive", Type::vec, {old - peak});
  ElementCode e = by_algebra(s_.algebra.rescale);
  e.old_peak = old;
  e.peak = peak;
  return e();
}

bool is_exp_below_peak(const Expression& e, Fn a) {
  if (!e.is(Fn::exp)) return false;
  const Term& d = e.terms[std::size_t(e.terms.back().in[0])];
  return d.fn == Fn::sub && e.terms[std::size_t(d.in[0])].fn == a && e.terms[std::size_t(d.in[1])].fn == Fn::peak;
}

bool subtracts_peak_in_exponent(const Expression& e) {
  for (const Term& t : e.terms) {
    if (t.fn != Fn::exp) continue;
    const Term& d = e.terms[std::size_t(t.in[0])];
    if (d.fn == Fn::sub && e.terms[std::size_t(d.in[0])].fn == Fn::acc && e.terms[std::size_t(d.in[1])].fn == Fn::peak) return true;
  }
  return false;
}

// A tensor's elements for vector v of a block's rows, in a column.
ElementCode StreamCode::at_lane(const Expression& x, const RowBlocks& r, int v, const Expr& col) const {
  ElementCode e = by_algebra(x);
  e.at = {index("c0"), index("c1"), index("row") + Expr(v * lanes_), col};
  e.part = v == r.tile.vectors - 1 ? last_part(r) : -1;
  return e;
}

std::string StreamCode::weigh_name(const RowBlocks& r, const char* suffix) const {
  return fmt::format("{}_weigh_{}{}{}", c_.prefix, r.tile.vectors * lanes_, factors() && last_part(r) >= 0 ? "_last" : "", suffix);
}

void StreamCode::run_weigh(Block& at, const RowBlocks& r, const Expr& col, const Expr& count, bool all) {
  at.run(call(weigh(r), Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), col, name("local", Type::out), count, name(all ? "true" : "false", Type::flag)}));
}

// Turns the scores of the first `count` columns of a block into weights, in place; the rows' peaks and
// the sum of these weights follow. Where weights are made in the tiles, only rows that nothing
// else mends, or all if `all`, get a new peak: the others keep theirs, and so every bit.
std::string StreamCode::weigh(const RowBlocks& r) {
  const int vectors = r.tile.vectors;
  const std::string n = weigh_name(r);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Scores of {} rows become weights; the rows' state follows.", vectors * lanes_);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, local_parameter(), {Type::index, "count"}, {Type::flag, "all"}};
  Block b(f.body);
  const Expr scores = local(at_.scores());
  const auto slot = [&](long offset, int v) { return local(offset + v * lanes_); };
  const auto load = [&](const Expr& p) { return call("load", Type::vec, {p}); };
  std::vector<Expr> peak, total;
  std::vector<Expr> shift = std::vector<Expr>(std::size_t(vectors));
  // A shift is rounded once more than the difference it stands for, by as much as the peak is large: that cancels
  // in the scale or may not be.
  const bool shifts = s_.algebra.peak_cancels && subtracts_peak_in_exponent(s_.algebra.weight);
  for (int v = 0; v < vectors; ++v) {
    if (s_.algebra.tracks_peak) {
      const Expr old = b.let(fmt::format("old{}", v), load(slot(at_.peak(), v)));
      Expr next = call("max", Type::vec, {old, load(slot(at_.block_peak(), v))});
      if (direct_) {
        const Expr inside = can_be_lowered(load(slot(at_.block_total(), v)), old);
        const Expr outside = b.let(fmt::format("outside{}", v), call("negation", Type::lanes, {inside}));
        next = call("select", Type::vec, {call("either", Type::lanes, {call("all_lanes", Type::lanes, {name("all", Type::flag)}), outside}), next, old});
      }
      peak.push_back(b.let(fmt::format("peak{}", v), next));
      b.run(call("store", Type::none, {slot(at_.peak(), v), peak.back()}));
      if (shifts) {
        shift[std::size_t(v)] = b.let(fmt::format("shift{}", v), shift_of(peak.back()));
        if (direct_) b.run(call("store", Type::none, {slot(at_.shift(), v), shift[std::size_t(v)]}));
      }
      if (rescales_) b.run(call("store", Type::none, {slot(at_.carry(), v), rescale_of(old, peak.back())}));
    } else {
      peak.push_back({});
    }
    total.push_back(b.var(fmt::format("total{}", v), call("splat", Type::vec, {real(0)})));
    b.blank();
  }
  Block j = b.loop("j", 0, index("count"));
  for (int v = 0; v < vectors; ++v) {
    const Expr p = scores + Expr(at_.rows) * index("j") + Expr(v * lanes_);
    const Expr w = j.let(fmt::format("w{}", v), weight_of(load(p), peak[std::size_t(v)], shift[std::size_t(v)]));
    ElementCode e = at_lane(s_.factored, r, v, index("col") + index("j"));
    e.acc = w;
    j.run(call("store", Type::none, {p, factors() ? e() : w}));
    j.assign(total[std::size_t(v)], total[std::size_t(v)] + w);
  }
  b.blank();
  for (int v = 0; v < vectors; ++v) b.run(call("store", Type::none, {slot(at_.block_total(), v), total[std::size_t(v)]}));
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
