// The second product of a stream: a block of weights with its columns' values.
#include <algorithm>

#include "loops/stream.h"

namespace attune::loops {

// Rows' sums in registers become results, stored by `store`; `odd` becomes NaN where one is not finite.
void StreamCode::end_rows(Block& b, const Accumulators& sums, const std::function<void(int row, int vector)>& store) const {
  b.comment("0 * x is 0, or NaN if x is not finite.");
  const Expr zero = b.let("zero", call("splat", Type::vec, {real(0)})), place = name("odd", Type::out);
  std::vector<Expr> odd;  // of each vector's own: no long sum
  for (std::size_t v = 0; v < sums[0].size(); ++v) odd.push_back(b.var(fmt::format("odd{}", v), v == 0 ? call("load", Type::vec, {place}) : zero));
  for (std::size_t i = 0; i < sums.size(); ++i) {
    const Expr factor = scales_result() ? b.let(fmt::format("f{}", i), call("splat", Type::vec, {element(name("factors", Type::in), long(i))})) : Expr();
    for (std::size_t v = 0; v < sums[i].size(); ++v) {
      const Expr& sum = sums[i][v];
      if (factor) b.assign(sum, factor * sum);
      store(int(i), int(v));
      b.assign(odd[v], call("fma", Type::vec, {zero, sum, odd[v]}));
    }
  }
  Expr all = odd[0];
  for (std::size_t v = 1; v < odd.size(); ++v) all = all + odd[v];
  b.run(call("store", Type::none, {place, all}));
}

// out = out + weights^T values, or without the first part where there is no out yet; older sums are
// multiplied by the carry where the peak moves at every block of columns. Where it ends rows, there is no out yet.
std::string StreamCode::value_tile(int rows, const StreamPlan::Group& g, Fold how) {
  const bool tail = g.part != lanes_;
  const bool some = how == Fold::adds_with_holes, ends = how == Fold::ends, scaled = ends && scales_result();
  const std::string n = fmt::format("{}_{}_{}x{}{}", c_.prefix, ends ? "results" : "values", rows, (g.vectors - 1) * lanes_ + g.part, some ? "_with_holes" : "");
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("{} x {} columns of the result, over `count` weights each{}.", rows == 1 ? "One row" : fmt::format("{} rows", rows), (g.vectors - 1) * lanes_ + g.part, some ? ", of which those of -0 don't count" : scaled ? ", times the rows' factors" : "");
  f.parameters = {{Type::in, "weights"}, {Type::in, "v"}, {Type::index, "count"}, {Type::out, "out"}, {Type::in, scaled ? "factors" : "carry"}, {Type::in, "holes"}, {Type::index, "before_holes"}, {Type::flag, "fresh"}};
  if (ends) f.parameters.push_back({Type::out, "odd"});
  Block b(f.body);
  const auto part = [&](int v) { return tail && v == g.vectors - 1 ? long(g.part) : -1L; };
  const Accumulators s = declare_accumulators(b, {rows, g.vectors});
  const Expr out = name("out", Type::out);
  const bool carries = rescales_ && !direct_;
  b.blank();
  Steps steps;
  if (some) steps.some_hole = [](Expr k) { return binary(">", element(name("holes", Type::in), k), real(0), Type::flag); };
  if (some) steps.before_holes = index("before_holes");
  accumulate(c_, b, s, index("count"), {c_.prefix + "_values", name("weights", Type::in), 1, at_.rows, name("v", Type::in), v_col(), part(g.vectors - 1)}, steps);
  b.blank();
  const auto store = [&](int i, int v) { b.run(store_vector(out + Expr(out_row() * i + v * lanes_), s[std::size_t(i)][std::size_t(v)], part(v))); };
  if (ends) {
    end_rows(b, s, store);
    c_.kernel.functions.push_back(std::move(f));
    return n;
  }
  Block old = b.when(call("!", Type::flag, {name("fresh", Type::flag)}));
  for (int i = 0; i < rows; ++i) {
    Expr carry;
    if (carries) carry = old.let(fmt::format("c{}", i), call("splat", Type::vec, {element(name("carry", Type::in), i)}));
    for (int v = 0; v < g.vectors; ++v) {
      const Expr o = load_vector(out + Expr(out_row() * i + v * lanes_), part(v));
      const Expr& sum = s[std::size_t(i)][std::size_t(v)];
      old.assign(sum, sum + (carries ? carry * o : o));
    }
  }
  b.blank();
  for (int i = 0; i < rows; ++i)
    for (int v = 0; v < g.vectors; ++v) store(i, v);
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

std::string StreamCode::fold(const RowBlocks& r, Fold how) {
  const bool ends = how == Fold::ends;
  const std::string n = fmt::format("{}_{}_{}{}", c_.prefix, ends ? "results_of" : "fold", r.rows, how == Fold::adds_with_holes ? "_with_holes" : "");
  if (c_.has(n)) return n;
  Function f;
  f.name = n;
  f.comment = fmt::format("Weights of {} rows and `count` columns{}.", r.rows, ends ? ", which are all that there are, become results" : " are folded into the result");
  f.parameters = {memory_parameter(), {Type::index, "c0"}, {Type::index, "c1"}, {Type::index, "row"}, {Type::index, "col"}, {Type::index, "count"}, local_parameter(), {Type::flag, "fresh"}};
  Block b(f.body);
  const Expr v = b.let("v", address(c_.memory, s_.v, {index("c0"), index("c1"), index("col"), 0}));
  const Expr out = b.let("out", address(c_.memory, s_.out, {index("c0"), index("c1"), index("row"), 0}));
  for (int v = 0; v < r.tile.vectors; ++v) {
    const auto slot = [&](long offset) { return call("load", Type::vec, {local(offset + v * lanes_)}); };
    const Expr older = rescales_ && !direct_ ? slot(at_.carry()) * slot(at_.total()) : slot(at_.total());
    b.run(call("store", Type::none, {local(at_.total() + v * lanes_), older + slot(at_.block_total())}));
  }
  if (ends && scales_result()) set_factors(b, r, Path::fast);
  const Expr before = how == Fold::adds_with_holes ? b.let("before", before_holes()) : Expr(0);
  b.blank();
  const auto tile = [&](Block& at, int rows, const Expr& i, const StreamPlan::Group& g, const Expr& n) {
    Expr begin = 0, count = index("count");
    if (p_.row_hull) {
      // A bound that grows is least at the tile's first row and greatest at its last; a line at one of them, a table
      // perhaps at any vector between.
      const auto of_tile = [&](const Edge& e, bool high) {
        std::vector<long> places{high && e.grows() ? rows - 1 : 0};
        for (long k = e.rows; !e.table.empty() && k < rows - 1; k += e.rows) places.push_back(k);
        if (!e.grows() && rows > 1) places.push_back(rows - 1);
        Expr all;
        for (long k : places) {
          const Expr one = edge_of_rows(at, e, high ? "high" : "low", index("row") + i + Expr(k), k == 0 ? "_first" : k == rows - 1 ? "_last" : fmt::format("_at{}", k));
          all = !all ? one : high ? greatest(one, all) : least(all, one);
        }
        return all;
      };
      const Expr low = of_tile(p_.row_hull->low, false), high = of_tile(p_.row_hull->high, true);
      if (!low.is(0)) begin = at.let("begin", least(greatest(low - index("col"), 0), index("count")));
      count = at.let("end", least(high - index("col"), index("count"))) - begin;
    }
    const Expr weights = local(at_.scores()) + Expr(at_.rows) * begin + i;
    std::vector<Expr> arguments{weights, v + Expr(v_col()) * begin + n, count, out + Expr(out_row()) * i + n, local(at_.carry()) + i, local(at_.holes()) + begin, least(greatest(before - begin, 0), count), name("fresh", Type::flag)};
    if (ends) arguments.push_back(local(at_.odd()));
    at.run(call(value_tile(rows, g, how), Type::none, arguments));
  };
  // All rows pass over one group of columns before the next: its values stay in L1.
  const auto rows = [&](Block& at, const StreamPlan::Group& g, const Expr& n) {
    each_tile(at, "i", cut(r.rows, p_.value_rows), [&](Block& one, int height, const Expr& i) { tile(one, height, i, g, n); });
  };
  for (std::size_t g = 0; g < p_.groups.size();) {
    std::size_t same = g + 1;
    while (same < p_.groups.size() && p_.groups[same].vectors == p_.groups[g].vectors && p_.groups[same].part == p_.groups[g].part) ++same;
    if (same - g > 1) {
      Block n = b.loop("n", p_.groups[g].offset, p_.groups[same - 1].offset + long(p_.groups[g].vectors) * lanes_, long(p_.groups[g].vectors) * lanes_);
      rows(n, p_.groups[g], index("n"));
    } else {
      rows(b, p_.groups[g], p_.groups[g].offset);
    }
    g = same;
  }
  c_.kernel.functions.push_back(std::move(f));
  return n;
}

}  // namespace attune::loops
