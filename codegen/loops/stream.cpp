#include "loops/stream.h"

#include <algorithm>

namespace attune::loops {

StreamCode::StreamCode(Context& c, const Stream& s, const StreamPlan& p) : c_(c), s_(s), p_(p), lanes_(c.lanes) {
  long rows = lanes_;
  for (const RowBlocks& b : p.blocks) rows = std::max(rows, long(b.tile.vectors) * lanes_);
  at_ = {rows, s.depth, p.column_block, std::max(1L, s.width), long(s.values.size()), p.one_visit ? rows : 0};
  rescales_ = s.algebra.tracks_peak && !s.algebra.rescale.is(Fn::constant);
  direct_ = !s.algebra.tracks_peak || (rescales_ && s.algebra.peak_cancels && subtracts_peak_in_exponent(s.algebra.weight));
  lowers_ = direct_ && rescales_ && is_exp_below_peak(s.algebra.weight, Fn::acc) && is_exp_below_peak(s.algebra.rescale, Fn::old_peak);
  binary_ = lowers_ && s.element.is(Fn::acc) && !s.algebra.scale.uses(Fn::peak);
}

// In the order in which they lie.
Struct StreamCode::memory_struct() const {
  const long rows = at_.rows;
  Struct r{memory_name(), "A worker's memory: a block of rows, one a lane, against a block of columns.",
          {{"rows", at_.scores(), fmt::format("[{}][{}], scaled{}", at_.depth, rows, binary_ ? ", in units of log 2" : "")},
           {"scores", at_.peak() - at_.scores(), fmt::format("[{}][{}]; weights once they are known", at_.columns, rows)},
           {"peak", rows, direct_ ? "of each row, the score that the others are compared with" : "of each row, the greatest score so far"},
           {"total", rows, "and the sum of its weights"},
           {"carry", rows, "what its older sums are multiplied by, at the end by what"},
           {"block_peak", rows, "the greatest score in the block of columns"},
           {"block_total", rows, "and the sum of the block's weights"},
           {"shift", rows, binary_ ? "-peak, where the rows' accumulators start" : "-peak / log 2"},
           {"odd", at_.odd_floats, "NaN once a result is not finite"},
           {"kept", rows, "1 where the safe path found a pair that counts"},
           {"holes", at_.fast() - at_.holes(), fmt::format("[{}]: 1 for a column with one; then how many come before the first", at_.columns)},
           {"fast", rows * at_.width, fmt::format("[{}][{}], the {} that it came to replace", rows, at_.width, values_alone() ? "totals" : "results")}}};
  std::erase_if(r.fields, [](const Struct::Field& f) { return f.floats == 0; });
  if (at_.values > 0) r.fields.push_back({"row_values", at_.values * rows, fmt::format("[{}][{}], what it says of its rows", at_.values, rows)});
  return r;
}

Expr StreamCode::local(long offset) const {
  for (const Struct::Field& f : memory_struct().fields) {
    if (offset < f.floats) return name("local." + f.name, Type::out) + Expr(offset);
    offset -= f.floats;
  }
  return name("local", Type::out) + Expr(offset);
}

Expr StreamCode::bound(const Affine& a, const Expr& i, long count) const {
  if (a.step == 0 || count == 1) {
    long v = a(0);
    return v;
  }
  const long first = a.offset, last = a.step * (count - 1) + a.offset;
  Expr e = Expr(a.step) * i + Expr(a.offset);
  if (std::max(first, last) > a.limit) e = least(e, a.limit);
  if (std::min(first, last) < 0) e = greatest(e, 0);
  return e;
}

// The i-th of so many bounds.
Expr StreamCode::edge(Block& b, const Edge& e, const std::string& side, const Expr& i, long count, const std::string& suffix) const {
  if (e.table.empty()) return b.let(side + suffix, bound(e.line, i, count));
  const std::string table = side + (e.rows > 1 ? "_of_vector" : "_of_block");
  b.array(Type::index, table, e.table);
  return b.let(side + suffix, element(name(table, Type::index), i));
}

// Lanes of the block's last vector that hold rows, where the element must not read beyond them.
long StreamCode::last_part(const RowBlocks& r) const { return reads_rows() && r.rows % lanes_ ? r.rows % lanes_ : -1; }

// The block's rows, times the scale, with rows on lanes. Where rows or their elements are no whole vectors,
// the last ones overlap those before. Lanes without a row repeat the last one.
void StreamCode::turn_rows(Block& b, const RowBlocks& r, double scale) {
  long before = 0;
  for (std::size_t i = 0; i < s_.dots.size(); before += s_.dots[i++].depth) {
    Block at = s_.dots.size() > 1 ? b.scope() : b;
    turn_rows(at, r, i, local(at_.at()) + Expr(before * at_.rows), scale);
  }
}

void StreamCode::turn_rows(Block& b, const RowBlocks& r, std::size_t dot, const Expr& to, double scale) {
  const Expr a = name(of_dot("a", dot), Type::in);
  const long depth = s_.dots[dot].depth, a_row = StreamCode::a_row(s_.dots[dot]), a_depth = *stride_of(s_.dots[dot].a.dims[3]);
  const long whole_rows = r.rows / lanes_ * lanes_, whole_depth = a_depth == 1 ? depth / lanes_ * lanes_ : 0;
  const auto one = [&](const Expr& row, const Expr& k) {
    const Expr x = element(a, Expr(a_row) * row + Expr(a_depth) * k);
    return scale == 1 ? x : x * real(scale);
  };
  const auto turn = [&](Block& at, const Expr& row, const Expr& k) {
    at.run(call("transpose_block", Type::none, {a + Expr(a_row) * row + k, a_row, to + Expr(at_.rows) * k + row, at_.rows, call("splat", Type::vec, {real(scale)})}));
  };
  const auto turn_all = [&](Block& at, const Expr& row) {
    if (whole_depth > 0) {
      Block k = at.loop("k", 0, whole_depth, lanes_);
      turn(k, row, index("k"));
      if (whole_depth < depth) turn(at, row, depth - lanes_);
    } else {
      Block k = at.loop("k", 0, depth);
      Block lane = k.loop("lane", 0, lanes_);
      lane.assign(element(to, Expr(at_.rows) * index("k") + row + index("lane")), one(row + index("lane"), index("k")));
    }
  };
  if (whole_rows > lanes_) {
    Block rows = b.loop("r", 0, whole_rows, lanes_);
    turn_all(rows, index("r"));
  } else if (whole_rows > 0) {
    turn_all(b, 0);
  }
  const long left = r.rows - whole_rows;
  if (left == 0) return;
  if (whole_rows > 0 && whole_depth > 0) {
    turn_all(b, r.rows - lanes_);
    const Expr empty = b.let("empty", call("iless_equal", Type::lanes, {call("isplat", Type::ivec, {left}), call("iota", Type::ivec, {})}));
    Block k = b.loop("k", 0, depth);
    const Expr last = k.let("last", to + Expr(at_.rows) * index("k") + Expr(whole_rows));
    k.run(call("store", Type::none, {last, call("select", Type::vec, {empty, call("splat", Type::vec, {element(last, left - 1)}), call("load", Type::vec, {last})})}));
  } else {
    Block k = b.loop("k", 0, depth);
    Block lane = k.loop("lane", 0, lanes_);
    const Expr row = lane.let("r", least(Expr(whole_rows) + index("lane"), r.rows - 1));
    lane.assign(element(to, Expr(at_.rows) * index("k") + Expr(whole_rows) + index("lane")), one(row, index("k")));
  }
}

// Weights of a block of columns, and their product with the values.
// Whether a block of columns, of which tables decide what counts, has a pair that does: most that have
// one show it in their first column.
std::string StreamCode::some_pair(const RowBlocks& r) {
  const std::string n = fmt::format("{}_some_pair_of_{}", c_.prefix, r.rows);
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Whether any of {} rows and `count` columns from col on counts.", r.rows);
  f.result = Type::flag;
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "count"}};
  Block b(f.body);
  Block j = b.loop("j", index("col"), index("col") + index("count"));
  Expr some;
  for (int v = 0; v < r.tile.vectors; ++v) {
    const Expr counts = j.let(fmt::format("counts{}", v), at_lane(s_.keep->code, r, v, index("j")).truth(s_.keep->code.root()));
    some = some ? call("either", Type::lanes, {some, counts}) : counts;
  }
  Block found = j.when(call("any", Type::flag, {some}));
  found.text("return true;");
  b.text("return false;");
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

bool StreamCode::slanted() const {
  return std::any_of(s_.element.terms.begin(), s_.element.terms.end(), [](const Term& t) { return t.fn == Fn::coordinate && t.index == 3; });
}

void StreamCode::visit_runs(Block& b, const RowBlocks& r, const Expr& i, Path path) {
  const auto visitor = [&](Columns kinds, bool first_band) { return path == Path::safe ? visit_safely(r, kinds) : visit(r, kinds, first_band); };
  const auto run = [&](Block& at, const Expr& begin, const Expr& end, const std::string& of_columns, const Expr& whole_begin, const Expr& whole_end) {
    if (p_.one_visit && path == Path::fast) {
      Block there = r.runs.some_empty ? at.when(binary("<", begin, end, Type::flag)) : at;
      if (s_.keep && s_.keep->at_run_time) there = there.when(call(some_pair(r), Type::flag, {memory_argument(), index("c0"), index("c1"), index("row"), begin, end - begin}));
      there.run(call(of_columns, Type::none, {memory_argument(), index("c0"), index("c1"), index("row"), begin, end - begin, whole_begin, whole_end, name("local", Type::out), name("true", Type::flag)}));
      if (may_see_nothing(r)) there.assign(name("fresh", Type::flag), name("false", Type::flag));
      return;
    }
    Block col = at.loop("col", begin, end, p_.column_block);
    if (s_.keep && s_.keep->at_run_time) {
      Block none = col.when(call("!", Type::flag, {call(some_pair(r), Type::flag, {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), least(Expr(p_.column_block), end - index("col"))})}));
      none.text("continue;");
    }
    if (path == Path::fast && s_.cols > p_.column_block && !values_alone()) {
      Block lost = col.when(binary("&&", call("!", Type::flag, {name("fresh", Type::flag)}), call(no_row_is_finite(r), Type::flag, {memory_argument(), index("c0"), index("c1"), index("row")}), Type::flag));
      lost.text("break;");
    }
    col.run(call(of_columns, Type::none,
                 {memory_argument(), index("c0"), index("c1"), index("row"), index("col"), least(Expr(p_.column_block), end - index("col")), whole_begin, whole_end, name("local", Type::out), name("fresh", Type::flag)}));
    col.assign(name("fresh", Type::flag), name("false", Type::flag));
  };
  const bool refers = path == Path::fast && direct_ && s_.algebra.tracks_peak;
  const bool ends = refers && slanted() && s_.cols >= r.tile.rows;  // the greatest score is likely at one end
  switch (r.runs.form) {
    case RunPlan::Form::whole:
      if (ends) reference(b, r, {0, s_.cols - r.tile.rows});
      run(b, 0, s_.cols, visitor({true, false, false}, !ends), 0, s_.cols);
      break;
    case RunPlan::Form::edges: {
      bool some[3] = {false, false, false};
      for (int e = 0; e < 3; ++e)
        for (long k = 0; k < r.count; ++k) some[e] = some[e] || r.runs.edges[e](k) < r.runs.edges[e + 1](k);
      const auto nth = [&](int e, const char* n) { return edge(b, r.runs.edges[e], n, i, r.count); };
      const Expr begin = nth(0, "begin"), whole_begin = nth(1, "whole_begin"), whole_end = nth(2, "whole_end"), end = nth(3, "end");
      if (!some[0] && !some[1] && !some[2]) break;
      // Columns that all rows keep make the better reference, unless a table removes some of those.
      const bool apart = refers && (ends || (some[0] && some[1] && !s_.keep->at_run_time));
      if (apart) {
        std::vector<Expr> guesses{b.let("guess", least(some[0] ? whole_begin : begin, s_.cols - r.tile.rows))};
        if (ends) guesses.push_back(b.let("last_guess", greatest(whole_end - Expr(r.tile.rows), guesses[0])));
        reference(b, r, guesses);
      }
      run(b, begin, end, visitor({some[1], some[0], some[2]}, !apart), whole_begin, whole_end);
      break;
    }
    case RunPlan::Form::table: {
      b.array(Type::index, "first_run", r.runs.first);
      b.array(Type::index, "run_begin", r.runs.begin);
      b.array(Type::index, "run_end", r.runs.end);
      b.array(Type::index, "run_whole", r.runs.whole);
      const auto of = [&](const char* table, const Expr& at) { return element(name(table, Type::index), at); };
      const bool whole = std::count(r.runs.whole.begin(), r.runs.whole.end(), 1) > 0, part = std::count(r.runs.whole.begin(), r.runs.whole.end(), 0) > 0;
      Block u = b.loop("u", of("first_run", i), of("first_run", i + Expr(1)));
      const Expr end = u.let("end", of("run_end", index("u")));
      run(u, of("run_begin", index("u")), end, visitor({whole, false, part}, true), 0, end * of("run_whole", index("u")));
    }
  }
}

// The columns of a row of the result, vector by vector: calls f with the first column of a vector
// and how many lanes of it exist, -1 for all.
void StreamCode::each_vector(Block& at, const std::function<void(Block&, const Expr&, long)>& f) const {
  const long whole = s_.width / lanes_ * lanes_;
  if (whole > 0) {
    Block n = at.loop("n", 0, whole, lanes_);
    f(n, index("n"), -1);
  }
  if (whole < s_.width) f(at, whole, s_.width - whole);
}

bool StreamCode::may_see_nothing(const RowBlocks& r) const { return r.runs.some_empty || s_.cols == 0 || (s_.keep && s_.keep->at_run_time); }

Expr StreamCode::odd_totals(Block& b, const RowBlocks& r) const {
  Expr odd;
  for (int v = 0; v < r.tile.vectors; ++v) {
    const Expr total = b.let(fmt::format("total{}", v), call("load", Type::vec, {local(at_.total() + v * lanes_)}));
    odd = odd ? odd + (total - total) : total - total;
  }
  return b.let("odd", odd);
}

// Divides by the sums, as the algebra says, and mends the rows whose result is not finite.
void StreamCode::finish(Block& b, const RowBlocks& r) {
  const Expr out = name("out", Type::out);
  if (may_see_nothing(r)) {
    Block none = b.when(name("fresh", Type::flag));
    if (!values_alone()) {
      Block i = none.loop("i", 0, r.rows);
      Block n = i.loop("n", 0, s_.width);
      n.assign(element(out, Expr(out_row()) * index("i") + index("n")), real(0));
    }
    store_row_values(none, r, Path::fast, true);
    none.text("return;");
    b.blank();
  }
  store_row_values(b, r, Path::fast);
  const auto mend_if = [&](const Expr& odd) {
    Block bad = b.when(call("has_nan", Type::flag, {odd}));
    bad.run(call(safe_rows(r), Type::none, {memory_argument(), index("c0"), index("c1"), index("nth"), name("local", Type::out)}));
  };
  if (values_alone()) return mend_if(odd_totals(b, r));
  if (p_.one_visit) return mend_if(call("load", Type::vec, {local(at_.odd())}));
  const bool scaled = scales_result();
  if (scaled) {
    set_factors(b, r, Path::fast);
    b.blank();
  }
  b.comment("x - x is 0, or NaN if x is not finite.");
  const Expr odd = b.var("odd", call("splat", Type::vec, {real(0)}));
  Block i = b.loop("i", 0, r.rows);
  const Expr factor = scaled ? i.let("factor", call("splat", Type::vec, {element(local(at_.carry()), index("i"))})) : Expr();
  const Expr of_row = i.var("odd_of_row", call("splat", Type::vec, {real(0)}));
  each_vector(i, [&](Block& at, const Expr& n, long part) {
    const Expr p = out + Expr(out_row()) * index("i") + n;
    const Expr x = at.let(part < 0 ? "x" : "rest", scaled ? factor * load_vector(p, part) : load_vector(p, part));
    if (scaled) at.run(store_vector(p, x, part));
    at.assign(of_row, of_row + (x - x));
  });
  i.assign(odd, odd + of_row);  // a row's own sum: rows need not wait for each other
  mend_if(odd);
}

// Declares the first row of the nth block, its addresses and that of its results.
Expr StreamCode::place(Block& b, const RowBlocks& r) {
  const Expr i = r.count == 1 ? Expr(0) : index("nth");
  b.declare(Type::index, {{"row", Expr(r.rows) * i + Expr(r.first_row)}});
  for (std::size_t i = 0; i < s_.dots.size(); ++i) b.let(of_dot("a", i), address(c_.memory, s_.dots[i].a, {index("c0"), index("c1"), index("row"), 0}));
  b.let("out", address(c_.memory, s_.out, {index("c0"), index("c1"), index("row"), 0}));
  b.blank();
  return i;
}

// Whether a block of rows has seen no columns yet. Without sums of values it may be that nobody asks.
void StreamCode::declare_fresh(Block& b) const {
  b.var("fresh", name("true", Type::flag));
  if (values_alone()) b.text("(void)fresh;");
}

std::string StreamCode::block(const RowBlocks& r) {
  const std::string n = fmt::format("{}_{}_rows", c_.prefix, r.rows);
  Function f;
  f.name = n;
  f.comment = r.count == 1 ? fmt::format("The one block of {} rows.", r.rows) : fmt::format("The nth of {} blocks of {} rows.", r.count, r.rows);
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "nth"}, local_parameter()};
  Block b(f.body);
  const Expr i = place(b, r);
  b.comment("Rows change places with their elements: a vector holds the same element of every row.");
  turn_rows(b, r, binary_ ? s_.scale / std::numbers::ln2 : s_.scale);
  b.blank();
  for (int v = 0; v < r.tile.vectors; ++v) {
    if (s_.algebra.tracks_peak) b.run(call("store", Type::none, {local(at_.peak() + v * lanes_), call("splat", Type::vec, {float_lowest()})}));
    b.run(call("store", Type::none, {local(at_.total() + v * lanes_), call("splat", Type::vec, {real(0)})}));
  }
  if (p_.one_visit) b.run(call("store", Type::none, {local(at_.odd()), call("splat", Type::vec, {real(0)})}));
  b.blank();
  if (!p_.one_visit || may_see_nothing(r)) declare_fresh(b);
  visit_runs(b, r, i, Path::fast);
  b.blank();
  finish(b, r);
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

// Whether the blocks' runs grow with their rows.
bool StreamCode::last_is_longest() const {
  const RunPlan& r = p_.blocks[0].runs;
  const auto length = [&](long i) { return r.edges[3](i) - r.edges[0](i); };
  return r.form == RunPlan::Form::edges && length(p_.blocks[0].count - 1) > length(0);
}

void StreamCode::lower() {
  std::vector<std::string> blocks, ends;
  for (const RowBlocks& r : p_.blocks) {
    blocks.push_back(block(r));
    if (!s_.after.terms.empty()) ends.push_back(end_block(r));
  }
  Function item;
  item.name = c_.prefix;
  item.comment = "An item: one block of rows.";
  item.fixed = true;
  item.parameters = {memory_parameter(), {Type::index, "item"}, local_parameter()};
  Block b(item.body);
  long count = 0;
  for (const RowBlocks& r : p_.blocks) count += r.count;
  const long outer = s_.outer0 * s_.outer1;
  if (count > 0) {
    // The longest first: workers that take items in order then end together.
    const Expr nth = index("item") % count;
    const Expr which = b.let("block", last_is_longest() ? Expr(count - 1) - nth : nth);
    const Expr c0 = b.let("c0", index("item") / (count * s_.outer1));
    const Expr of_all = index("item") / count;
    const Expr c1 = b.let("c1", s_.outer1 == 1 ? Expr(0) : s_.outer0 == 1 ? of_all : of_all % s_.outer1);
    Block at = b;
    for (std::size_t k = 0; k < blocks.size(); ++k) {
      const auto run = [&](Block& here) {
        const Expr of_kind = which - Expr(p_.blocks[k].first);
        here.run(call(blocks[k], Type::none, {memory_argument(), c0, c1, of_kind, name("local", Type::out)}));
        if (!ends.empty()) here.run(call(ends[k], Type::none, {memory_argument(), c0, c1, of_kind}));
      };
      if (k + 1 == blocks.size()) {
        run(at);
      } else {
        Block here = at.when(binary("<", which, p_.blocks[k + 1].first, Type::flag));
        run(here);
        at = at.otherwise();
      }
    }
  }
  c_.kernel.work.push_back({item.name, c_.prefix, outer * count, memory_name()});
  c_.kernel.structs.push_back(memory_struct());
  c_.kernel.functions.push_back(std::move(item));
}

void lower_stream(Context& c, const Stream& s, const StreamPlan& p) { StreamCode(c, s, p).lower(); }

}  // namespace attune::loops
