// Elementwise regions, and plain loops for what no fused form covers.
#include <fmt/format.h>

#include <algorithm>

#include "loops/kernel.h"

namespace attune::loops {
namespace {

Expr index(const char* n) { return name(n, Type::index); }

// Rows of a region that one item computes: enough to be worth its call.
constexpr long rows_per_item = 16;

bool vectorises(const Pointwise& p) {
  if (p.value.uses(Fn::partner) || (!p.out.dims[3].empty() && stride_of(p.out.dims[3]) != 1)) return false;
  return std::all_of(p.value.tensors.begin(), p.value.tensors.end(), [](const View& v) { return stride_of(v.dims[3]).has_value(); });
}

long extent(const View& v, std::size_t d) { return extent_of(v.dims[d]); }

}  // namespace

void per_row(Context& c, long outer0, long outer1, long rows, const std::function<void(Block&, const std::array<Expr, region_rank>&)>& row, const std::function<void(Block&)>& before) {
  Function item;
  item.name = c.prefix;
  item.fixed = true;
  item.parameters = {memory_parameter(), {Type::index, "item"}, {Type::out, "local"}};
  Block b(item.body);
  const long chunks = (rows + rows_per_item - 1) / rows_per_item;
  const long items = outer0 * outer1 * chunks;
  if (items > 0) {
    const Expr c0 = b.let("c0", index("item") / (chunks * outer1));
    const Expr c1 = b.let("c1", outer1 == 1 ? Expr(0) : index("item") / chunks % outer1);
    if (before) before(b);
    const Expr begin = b.let("begin", index("item") % chunks * Expr(rows_per_item));
    Block r = b.loop("row", begin, least(begin + Expr(rows_per_item), rows));
    row(r, {c0, c1, index("row"), 0});
  }
  c.kernel.work.push_back({item.name, c.prefix, items});
  c.kernel.functions.push_back(std::move(item));
}

void lower_pointwise(Context& c, const Pointwise& p) {
  const long columns = extent(p.out, 3);
  per_row(c, extent(p.out, 0), extent(p.out, 1), extent(p.out, 2), [&](Block& b, std::array<Expr, region_rank> at) {
    ElementCode e;
    e.memory = &c.memory;
    e.expression = &p.value;
    const long whole = c.lanes > 1 && vectorises(p) ? columns / c.lanes * c.lanes : 0;
    const bool vectors = c.lanes > 1 && vectorises(p);
    at[3] = index("n");
    e.at = at;
    if (!vectors) {
      Block n = b.loop("n", 0, columns);
      n.assign(element(address(c.memory, p.out, at), 0), e());
      return;
    }
    e.lane_axis = 3;
    if (whole > 0) {
      Block n = b.loop("n", 0, whole, c.lanes);
      n.run(store_vector(address(c.memory, p.out, at), e(), -1));
    }
    if (whole == columns) return;
    e.part = columns - whole;
    e.at[3] = whole;
    b.run(store_vector(address(c.memory, p.out, e.at), e(), e.part));
  });
}

void lower_product(Context& c, const Product& p) {
  const long columns = extent(p.out, 3), depth = extent(p.a, 3);
  per_row(c, extent(p.out, 0), extent(p.out, 1), extent(p.out, 2), [&](Block& b, const std::array<Expr, region_rank>& at) {
    const Expr a = b.let("a", address(c.memory, p.a, at));
    const Expr from = b.let("b", address(c.memory, p.b, {at[0], at[1], 0, 0}));
    const Expr out = b.let("out", address(c.memory, p.out, at));
    const auto start = [&](const Expr& j) { return p.bias ? element(address(c.memory, *p.bias, {0, 0, 0, j}), 0) : real(0); };
    const auto product = [&](const Expr& x, const Expr& k, const Expr& j) { return x * element(from, offset_along(p.b.dims[2], k) + offset_along(p.b.dims[3], j)); };
    const auto left = [&](const Expr& k) { return element(a, offset_along(p.a.dims[3], k)); };
    const auto to = [&](const Expr& j) { return element(out, offset_along(p.out.dims[3], j)); };
    if (!c.vectorisable) {
      Block j = b.loop("j", 0, columns);
      const Expr sum = j.var("sum", start(index("j")));
      Block k = j.loop("k", 0, depth);
      k.assign(sum, product(left(index("k")), index("k"), index("j")), "+=");
      j.assign(to(index("j")), sum);
      return;
    }
    Block first = b.loop("j", 0, columns);
    first.assign(to(index("j")), start(index("j")));
    Block k = b.loop("k", 0, depth);
    const Expr x = k.let("x", left(index("k")));
    if (p.skip_zeros) {
      Block removed = k.when(binary("==", x, real(0), Type::flag));
      removed.text("continue;");
    }
    Block j = k.loop("j", 0, columns);
    j.assign(to(index("j")), product(x, index("k"), index("j")), "+=");
  });
}

Expr norm_of_row(const InverseNorm& n, const Expr& row, long width) {
  const auto exact = [](double v) { return name(fmt::format("{:a}", v), Type::real); };
  return call(fmt::format("inverse_norm<{}>", width), Type::real, {row, exact(n.factor), exact(n.added), exact(n.least)});
}

void lower_row_norm(Context& c, const RowNorm& r) {
  per_row(c, extent(r.in, 0), extent(r.in, 1), extent(r.in, 2), [&](Block& b, const std::array<Expr, region_rank>& at) {
    b.assign(element(address(c.memory, r.out, at), 0), norm_of_row(r.norm, address(c.memory, r.in, at), extent(r.in, 3)));
  });
}

void lower_row_reduce(Context& c, const RowReduce& r) {
  const long columns = extent(r.in, 3);
  per_row(c, extent(r.in, 0), extent(r.in, 1), extent(r.in, 2), [&](Block& b, const std::array<Expr, region_rank>& at) {
    const Expr in = b.let("in", address(c.memory, r.in, at));
    const Expr out = b.let("out", address(c.memory, r.out, at));
    const auto score = [&](const char* j) { return element(in, offset_along(r.in.dims[3], index(j))); };
    const auto to = [&](const char* j) { return element(out, offset_along(r.out.dims[3], index(j))); };
    Expr peak;
    const Expr kept = b.var("kept", name("false", Type::flag));
    if (r.algebra.tracks_peak) peak = b.var("peak", float_lowest());
    Block first = b.loop("j", 0, columns);
    const Expr x = first.let("x", score("j"));
    Block counts = first.when(binary("!=", x, minus_infinity(), Type::flag));
    counts.assign(kept, name("true", Type::flag));
    if (r.algebra.tracks_peak) first.assign(peak, call("max", Type::real, {peak, x}));
    ElementCode e;
    e.memory = &c.memory;
    e.at = at;
    e.peak = peak;
    e.expression = &r.algebra.weight;
    const Expression& at_the_end = r.value ? r.value->value : r.algebra.scale;
    const bool sums = r.value || at_the_end.uses(Fn::total);
    const Expr total = sums ? b.var("total", real(0)) : Expr();
    // In parts, so that the roundings of a long sum, which may all have one sign, are those of short ones.
    constexpr long part = 32;
    Block parts = b.loop("from", 0, columns, part);
    const Expr sum = sums ? parts.var("sum", real(0)) : Expr();
    Block second = parts.loop("j", index("from"), least(index("from") + Expr(part), Expr(columns)));
    e.acc = second.let("x", score("j"));
    const Expr weight = second.let("weight", choose(binary("!=", e.acc, minus_infinity(), Type::flag), e(), real(0)));
    if (!r.value) second.assign(to("j"), weight);
    if (sums) {
      second.assign(sum, weight, "+=");
      parts.assign(total, sum, "+=");
    }
    e.expression = &at_the_end;
    e.total = total;
    if (r.value) {
      ElementCode of_nothing = e;
      of_nothing.total = real(0);
      of_nothing.peak = number(r.value->peak_of_nothing);
      const Expr value = choose(binary("==", total, total, Type::flag), e(), total);  // a peak loses NaN
      b.assign(element(out, 0), choose(kept, value, of_nothing()));
      return;
    }
    const Expr factor = b.let("factor", choose(kept, e(), real(0)));
    Block last = b.loop("j", 0, columns);
    Block some = last.when(binary("!=", score("j"), minus_infinity(), Type::flag));  // what is removed stays 0 in a row of NaN
    some.assign(to("j"), factor, "*=");
  });
}

}  // namespace attune::loops
