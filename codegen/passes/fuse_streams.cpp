// Scores, their reduction, the product with values and the numbers of the rows.
#include <algorithm>
#include <limits>

#include "graph/expression.h"
#include "passes/fuser.h"

namespace attune {

bool Fuser::stream_at(int id) const {
  const int reduce = reduction_below(g_, g_[id].in[0]);
  return reduce >= 0 && product_below(g_, g_[reduce].in[0]) >= 0;
}

int Fuser::scores_term(ExpressionBuilder& e, int id, int acc) {  // scores are recomputed, never read, however many want them
  const Node& n = g_[id];
  if (id == acc) return e.apply(Fn::acc, Kind::real, {});
  if (is_index(n.type.kind)) return b_.index(e, id);
  if (!(n.op == Op::mask || elementwise(n.op)) || !leads_to(g_, id, acc)) return leaf(e, id, 0, 2);
  const int x = scores_term(e, n.in[0], acc);
  if (n.op == Op::mask) return e.apply(Fn::select, Kind::real, {b_.index(e, n.in[1]), x, e.constant(-std::numeric_limits<double>::infinity())});
  std::vector<int> in{x};
  if (n.in[1] >= 0) in.push_back(scores_term(e, n.in[1], acc));
  return e.elementwise(n.op, n.type.kind, in);
}

int Fuser::factored_term(ExpressionBuilder& e, int id, int weights) {
  const Node& n = g_[id];
  if (id == weights) return e.apply(Fn::acc, Kind::real, {});
  if (is_index(n.type.kind)) return b_.index(e, id);
  if (reduction_below(g_, id) != weights) return leaf(e, id, 0, 2);
  std::vector<int> in;
  for (std::size_t i = 0; i < 2; ++i) in.push_back(factored_term(e, n.in[i], weights));
  return e.elementwise(n.op, n.type.kind, in);
}

// Whether a row's value is of the same weights of the same scores as `reduce`, a reduction or another value.
bool Fuser::comes_with(int value, int reduce) const {
  const Operands &a = g_[value].in, &b = g_[reduce].in;
  return g_[value].op == Op::row_value && !views_[std::size_t(value)] && std::equal(a.begin(), a.begin() + 3, b.begin());
}

// In the region of a product with the same weights that does not itself need it, if one streams; else in one of
// its own, where scores are no stored matrix.
View Fuser::row_value(int id, std::optional<View> target) {
  if (target) wanted_.insert_or_assign(id, *target);
  for (int m = 0; m < int(g_.size()); ++m) {
    if (g_[m].op != Op::matmul || views_[std::size_t(m)] || users_[std::size_t(m)].empty() || !stream_at(m) || leads_to(g_, m, id) || !comes_with(id, reduction_below(g_, g_[m].in[0]))) continue;
    const auto to = wanted_.find(m);
    materialise(m, to == wanted_.end() ? std::nullopt : std::optional(to->second));
    return copied(views_[std::size_t(id)].value(), target);
  }
  if (product_below(g_, g_[id].in[0]) >= 0) return stream_of_values(id, target);
  const View in = materialise(g_[id].in[0]), out = place(id, target, "row_value");
  b_.add("row_value", "reduces rows of a stored matrix", RowReduce{in, out, b_.algebra(id), b_.row_value(id)});
  return out;
}

// Adds what else is wanted of the state of the rows that node `reduce` reduces, before node `user`, each where it
// is wanted.
void Fuser::add_row_values(Stream& s, int reduce, int user) {
  for (int n = 0; n < int(g_.size()); ++n) {
    if (users_[std::size_t(n)].empty() || !comes_with(n, reduce) || (n != user && leads_to(g_, user, n))) continue;
    const auto to = wanted_.find(n);
    const bool direct = to != wanted_.end() && stride_of(to->second.dims[2]).value_or(2) <= 1;  // vectors of rows are stored
    const View out = direct ? to->second : b_.scratch(g_[n].type.dims, "row_value");
    views_[std::size_t(n)] = out;
    s.values.push_back({b_.row_value(n), out});
    const RowAlgebra a = b_.algebra(n);
    s.algebra.tracks_peak = s.algebra.tracks_peak || a.tracks_peak;
    s.algebra.peak_cancels = s.algebra.peak_cancels && a.peak_cancels;
  }
}

// Scores and how node `reduce` reduces them, without values.
Stream Fuser::stream_of(int reduce) {
  int scores = g_[reduce].in[0];
  Stream s;
  auto predicates = std::make_shared<Graph>(g_);
  int keep = -1;
  while (g_[scores].op == Op::mask) {
    const int p = g_[scores].in[1];
    if (keep >= 0) predicates->nodes.push_back({Op::both, {Kind::predicate, {}}, {}, operand_list({keep, p}), 0});
    keep = keep >= 0 ? int(predicates->size()) - 1 : p;
    scores = g_[scores].in[0];
  }
  const int acc = product_below(g_, scores);
  ExpressionBuilder e;
  const int root = scores_term(e, scores, acc);
  s.element = e.finish(root);
  s.scale = extract_scale(s.element);
  if (keep >= 0) s.keep = Predicate{predicates, keep, b_.expression(*predicates, keep), mentions(*predicates, keep, Op::look_up)};
  s.algebra = b_.algebra(reduce);
  std::vector<int> products;
  sums_products(g_, acc, &products);
  for (const int p : products) {
    const Dims &qd = g_[g_[p].in[0]].type.dims, &kd = g_[g_[p].in[1]].type.dims;
    s.dots.push_back({simple(materialise(g_[p].in[0]), {2, 3}, false, qd), simple(transposed(materialise(g_[p].in[1])), {2, 3}, false, {4, {kd[0], kd[1], kd[3], kd[2]}}), qd[3]});
    s.depth += qd[3];
  }
  const Dims& d = g_[acc].type.dims;
  s.outer0 = d[0];
  s.outer1 = d[1];
  s.rows = d[2];
  s.cols = d[3];
  return s;
}

// Row values alone: what stands for the values and for their sums has no columns.
View Fuser::stream_of_values(int id, std::optional<View> target) {
  Stream s = stream_of(id);
  ExpressionBuilder one, weight;
  s.algebra.scale = one.finish(one.constant(1));
  s.factored = weight.finish(weight.apply(Fn::acc, Kind::real, {}));
  add_row_values(s, id, id);
  s.v = s.dots[0].b;
  s.v.dims[3] = {};
  s.out = unsqueezed(s.values[0].out, 3);
  b_.add("row_values", "", std::move(s));
  return copied(views_[std::size_t(id)].value(), target);
}

// The last product that streams and that node `root`, above `id`, is an elementwise function of, with nothing between that
// others want; not if `root` needs numbers of its rows besides. Or -1.
int Fuser::stream_below(int id, int root) const {
  const Node& n = g_[id];
  if (id != root && !private_to_user(id)) return -1;
  if (n.op == Op::merge_heads) return g_[n.in[0]].op == Op::matmul ? stream_below(n.in[0], root) : -1;
  if (n.op == Op::matmul) {
    if (!stream_at(id)) return -1;
    for (int value = 0; value < root; ++value)
      if (comes_with(value, reduction_below(g_, n.in[0])) && leads_to(g_, root, value)) return -1;
    return id;
  }
  if (!elementwise(n.op)) return -1;
  for (auto k = n.in.rbegin(); k != n.in.rend(); ++k)
    if (*k >= 0 && g_[*k].type == n.type)
      if (const int product = stream_below(*k, root); product >= 0) return product;
  return -1;
}

// A product with values; with `end`, up to that node.
View Fuser::stream(int id, std::optional<View> target, int end) {
  const Node& m = g_[id];
  const int reduce = reduction_below(g_, m.in[0]);
  Stream s = stream_of(reduce);
  ExpressionBuilder f;
  s.factored = f.finish(factored_term(f, m.in[0], reduce));
  add_row_values(s, reduce, id);
  s.v = simple(materialise(m.in[1]), {2, 3}, true, g_[m.in[1]].type.dims);
  s.width = m.type.dims[3];
  const bool merged = end >= 0 && g_[end].type.dims.rank == 3;
  if (end >= 0) {
    ExpressionBuilder e;
    s.after = e.finish(term(e, end, merged ? users_[std::size_t(id)][0] : id, end, merged ? s.outer1 : 0));
  }
  const View stored = place(end < 0 ? id : end, target, "heads"), heads = merged ? in_heads(stored, s.outer1) : stored;
  const bool direct = stride_of(heads.dims[2]) && (heads.dims[3].empty() || stride_of(heads.dims[3]) == 1);
  s.out = direct ? heads : b_.scratch(m.type.dims, "heads");
  const View out = s.out;
  b_.add("attention", "", std::move(s));
  if (!direct) b_.copy(out, heads, "copy");
  return stored;
}

}  // namespace attune
