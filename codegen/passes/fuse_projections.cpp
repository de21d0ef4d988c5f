// Projections, with everything elementwise behind them.
#include <algorithm>

#include "passes/fuser.h"

namespace attune {

// The linear whose epilogue can carry everything up to node `id`, or -1: one linear below, of
// which nothing but this chain reads, with at most one split of heads on the way.
int Fuser::projection_below(int id) const { return projection_below(id, id, false); }
int Fuser::projection_below(int id, int root, bool split) const {
  const Node& n = g_[id];
  if (id != root && !private_to_user(id)) return -1;
  if (n.op == Op::linear) return id;
  if (n.op == Op::split_heads) return split || g_[n.in[0]].type.dims.rank != 3 ? -1 : projection_below(n.in[0], root, true);
  if (n.op == Op::rope) {
    const bool whole = n.attr.rotation.dims == 0 || n.attr.rotation.dims == n.type.dims[-1];
    return whole && turns_vectors(n) ? projection_below(n.in[0], root, split) : -1;
  }
  if (!elementwise(n.op)) return -1;
  for (int k : n.in) {
    if (k < 0 || is_index(g_[k].type.kind) || g_[k].type.dims != n.type.dims) continue;
    if (int l = projection_below(k, root, split); l >= 0) return l;
  }
  return -1;
}

// Whether node `id` is what becomes of a projection's heads, each row normalised, and nobody else wants what
// stands between.
bool Fuser::finishes(int id, int norm) const {
  const int x = g_[norm].in[0], l = projection_below(x);
  if (l < 0 || g_[x].type.dims.rank != 4 || g_[l].type.dims.rank != 3 || g_[x].type != g_[id].type) return false;
  const auto between = [&](int n) { return leads_to(g_, n, x) && leads_to(g_, id, n); };
  for (int n = x; n < id; ++n) {
    if (!between(n)) continue;
    const Node& at = g_[n];
    if (views_[std::size_t(n)] || !std::all_of(users_[std::size_t(n)].begin(), users_[std::size_t(n)].end(), [&](int u) { return u >= 0 && between(u); })) return false;
    if (n != x && n != norm && !(at.type == g_[id].type && (elementwise(at.op) || (at.op == Op::rope && turns_vectors(at))))) return false;
  }
  return true;
}

// A projection up to node `id`; with a norm, up to the rows that it is of, which become `id` once they are complete.
View Fuser::contract(int id, int linear, std::optional<View> target, int norm) {
  const int projected = norm < 0 ? id : g_[norm].in[0];
  const Node& l = g_[linear];
  const Dims& in = g_[l.in[0]].type.dims;
  const Dims& out = g_[id].type.dims;
  const bool split = out.rank == 4 && l.type.dims.rank == 3;
  Contract c;
  View a = aligned(materialise(l.in[0]), region_rank);
  if (split) std::swap(a.dims[0], a.dims[1]);  // [b, -, t, k]: the heads are columns
  c.a = simple(a, {2, 3}, false, {4, {split ? in[0] : in.rank > 3 ? in[0] : 1, split ? 1 : in.rank > 2 ? in[-3] : 1, in[-2], in[-1]}});
  c.outer0 = extent_of(c.a.dims[0]);
  c.outer1 = extent_of(c.a.dims[1]);
  c.rows = in[-2];
  c.depth = in[-1];
  Segment s;
  s.weight = g_[l.in[1]].attr.name;
  s.groups = split ? out[1] : 1;
  s.width = l.type.dims[-1] / s.groups;
  ExpressionBuilder e;
  int root = term(e, projected, linear, projected, 0);
  if (l.in[2] >= 0) root = biased(e, root, l, split ? s.groups : 0);
  s.epilogue = e.finish(root);
  if (norm >= 0) {
    norm_ = norm;
    ExpressionBuilder f;
    const int finished = term(f, id, projected, id, 0);
    s.finish = {b_.norm(norm), f.finish(finished)};
    norm_ = -1;
  }
  const View stored = place(id, target, s.weight + "_out");
  const bool unit = stride_of(stored.dims.back()) == 1 || stored.dims.back().empty();
  const bool rows = stride_of(stored.dims[stored.dims.size() - 2]).has_value();
  const View direct = unit && rows ? stored : b_.scratch(out, s.weight + "_out");
  s.out = aligned(direct, region_rank);
  c.segments.push_back(s);
  b_.add("project_" + s.weight, "", std::move(c));
  if (!(direct == stored)) b_.copy(direct, stored, "copy");
  return stored;
}

// The accumulator plus the bias, wherever the accumulator stands.
int Fuser::biased(ExpressionBuilder& e, int root, const Node& l, long heads) {
  View v = aligned(b_.weight(l.in[2]), 3);
  if (heads) v = in_heads(v, heads);
  Expression plain = e.finish(root);
  ExpressionBuilder again;
  std::vector<int> renamed;
  for (const Term& t : plain.terms) {
    Term r = t;
    for (int& k : r.in) k = renamed[std::size_t(k)];
    int added = t.fn == Fn::tensor ? again.tensor(plain.tensors[std::size_t(t.index)], t.kind) : again.add(r);
    if (t.fn == Fn::acc) added = again.apply(Fn::add, Kind::real, {added, again.tensor(aligned(v, region_rank))});
    renamed.push_back(added);
  }
  e = again;
  return renamed.back();
}

}  // namespace attune
