#include "passes/fuse.h"

#include <algorithm>
#include <limits>

#include "passes/fuser.h"

namespace attune {

Fuser::Fuser(const Graph& g) : g_(g), b_(g), views_(g.size()), users_(g.size()) {
  for (const Node& n : g.nodes)
    for (int k : n.in)
      if (k >= 0) users_[std::size_t(k)].push_back(int(&n - g.nodes.data()));
  for (const Output& o : g.outputs) users_[std::size_t(o.node)].push_back(-1);
}

Program Fuser::run() {
  std::vector<std::size_t> order(g_.outputs.size());
  for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
  for (std::size_t i : order) wanted_.emplace(g_.outputs[i].node, b_.output(i));
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return g_.outputs[a].node < g_.outputs[b].node; });
  for (std::size_t i : order) materialise(g_.outputs[i].node, b_.output(i));
  return b_.finish();
}

bool Fuser::private_to_user(int n) const { return !views_[std::size_t(n)] && users_[std::size_t(n)].size() == 1 && g_[n].op != Op::input; }

// The view of a node's value, computing it if need be; into `target` if there is one.
View Fuser::materialise(int id, std::optional<View> target) {
  auto& known = views_[std::size_t(id)];
  if (known) {
    return copied(*known, target);
  }
  const View v = compute(id, target);
  views_[std::size_t(id)] = v;
  return v;
}

View Fuser::compute(int id, std::optional<View> target) {
  const Node& n = g_[id];
  switch (n.op) {
    case Op::input: return copied(b_.input(id), target);
    case Op::weight: return copied(b_.weight(id), target);
    case Op::split_heads:
      if (int l = projection_below(id); l >= 0) return contract(id, l, target);
      return view(id, target, [](View v) { return std::optional(heads_merged(v)); }, [&](View v) { return in_heads(v, n.attr.count); });
    case Op::merge_heads: return view(id, target, [&](View v) { return heads_split(v, g_[n.in[0]].type.dims[1]); }, heads_merged);
    case Op::transpose: return view(id, target, [](View v) { return std::optional(transposed(v)); }, transposed);
    case Op::unsqueeze: return view(id, target, [&](View v) { return std::optional(squeezed(v, n.attr.count)); }, [&](View v) { return unsqueezed(v, n.attr.count); });
    case Op::features: {
      const View x = materialise(n.in[0]);
      const std::optional<View> some = features_of(x, n.attr.from, n.attr.count);
      return copied(some ? *some : features_of(packed(x), n.attr.from, n.attr.count).value(), target);
    }
    case Op::repeat_heads: return copied(heads_repeated(materialise(n.in[0]), n.attr.count), target);
    case Op::matmul: return stream_at(id) ? stream(id, target) : product(id, target);
    case Op::inverse_norm: {
      const Dims& d = g_[n.in[0]].type.dims;
      const View in = simple(materialise(n.in[0]), {d.rank - 1}, true, d), out = place(id, target);
      b_.add("norms", "what normalises each row", RowNorm{aligned(in, region_rank), aligned(out, region_rank), b_.norm(id)});
      return out;
    }
    case Op::reduce_rows: {
      const View in = materialise(n.in[0]), out = place(id, target);
      b_.add("reduce", "reduces rows of a stored matrix", RowReduce{in, out, b_.algebra(id)});
      return out;
    }
    case Op::row_value: return row_value(id, target);
    default: break;
  }
  if (int l = projection_below(id); l >= 0) return contract(id, l, target);
  if (int n = norm_below(g_, id); n >= 0 && finishes(id, n)) return contract(id, projection_below(g_[n].in[0]), target, n);
  return pointwise(id, target);
}

View Fuser::copied(View v, const std::optional<View>& target) {
  if (target && !(v == *target)) b_.copy(v, *target, "copy");
  return v;
}

// A change of view. With a target that can be seen backwards, the operand is computed right into it.
template <class Inverse, class Forward>
View Fuser::view(int id, const std::optional<View>& target, Inverse inverse, Forward forward) {
  const int x = g_[id].in[0];
  if (target && private_to_user(x))
    if (const std::optional<View> back = inverse(*target)) {
      materialise(x, back);
      return *target;
    }
  return copied(forward(materialise(x)), target);
}

// A dense copy.
View Fuser::packed(const View& v) {
  Dims d{int(v.dims.size()), {}};
  for (int i = 0; i < d.rank; ++i) d[i] = extent_of(v.dims[std::size_t(i)]);
  const View to = b_.scratch(d, "copy");
  b_.copy(v, to, "copy");
  return to;
}

// A rank-3 view split into heads: of a dense copy where they cut an axis unevenly.
View Fuser::in_heads(const View& v, long heads) {
  if (const std::optional<View> split = heads_split(v, heads)) return *split;
  return heads_split(packed(v), heads).value();
}

// Where a computed node is stored.
View Fuser::place(int id, const std::optional<View>& target, std::string name) {
  if (target) return *target;
  const Dims& d = g_[id].type.dims;
  const auto& users = users_[std::size_t(id)];
  const bool merged = std::any_of(users.begin(), users.end(), [&](int u) { return u >= 0 && g_[u].op == Op::merge_heads; });
  return merged ? b_.scratch_heads_inside(d, name) : b_.scratch(d, name);
}

// The view itself if the given dims have one stride each, the last of them 1 if `unit`; else a dense copy.
View Fuser::simple(View v, std::initializer_list<int> dims, bool unit, const Dims& shape) {
  bool ok = true;
  for (int d : dims) ok = ok && stride_of(v.dims[std::size_t(d)]);
  if (unit) ok = ok && (v.dims.back().empty() || stride_of(v.dims.back()) == 1);
  if (ok) return v;
  const View to = b_.scratch(shape, "copy");
  b_.copy(v, to, "copy");
  return to;
}

// The term of node `id` over four coordinates. `acc` is the node that the accumulator holds, if
// any; `heads`, if not 0, says that coordinates are split into that many heads above this node.
int Fuser::term(ExpressionBuilder& e, int id, int acc, int root, long heads) {
  const Node& n = g_[id];
  if (id == acc) return e.apply(Fn::acc, Kind::real, {});
  if (id == norm_) return e.apply(Fn::total, Kind::real, {});
  if (is_index(n.type.kind)) return b_.index(e, id);
  if (n.op == Op::split_heads && acc >= 0 && leads_to(g_, id, acc)) return term(e, n.in[0], acc, root, n.attr.count);
  // Coordinates are those of the root's elements: an index expression keeps to scores of its shape.
  const bool same_place = n.type.kind != Kind::scores || n.type.dims == g_[root].type.dims;
  const bool inside = id == root || (!views_[std::size_t(id)] && same_place && (private_to_user(id) || leads_to(g_, id, acc)));
  if (inside && n.op == Op::mask) {
    const int x = term(e, n.in[0], acc, root, heads);
    return e.apply(Fn::select, Kind::real, {b_.index(e, n.in[1]), x, e.constant(-std::numeric_limits<double>::infinity())});
  }
  if (n.op == Op::rope && acc >= 0 && leads_to(g_, id, acc)) return b_.rotated(e, id, term(e, n.in[0], acc, root, heads));
  if (inside && n.op == Op::rope && acc < 0) return b_.rotated(e, id, term(e, n.in[0], acc, root, heads));
  if (inside && elementwise(n.op)) {
    std::vector<int> in;
    for (int k : n.in)
      if (k >= 0) in.push_back(term(e, k, acc, root, heads));
    return e.elementwise(n.op, n.type.kind, in);
  }
  return leaf(e, id, heads, acc >= 0 ? 3 : -1);
}
// Read where it lies; a dense copy if vectors run over dim `lanes` and it has no one stride there.
int Fuser::leaf(ExpressionBuilder& e, int id, long heads, int lanes) {
  View v = materialise(id);
  if (heads) v = in_heads(aligned(v, 3), heads);
  v = aligned(v, region_rank);
  if (lanes >= 0) v = simple(v, {lanes}, false, {4, {extent_of(v.dims[0]), extent_of(v.dims[1]), extent_of(v.dims[2]), extent_of(v.dims[3])}});
  return e.tensor(v);
}

View Fuser::pointwise(int id, std::optional<View> target) {
  if (const int product = stream_below(id, id); product >= 0) return stream(product, target, id);
  ExpressionBuilder e;
  const int root = term(e, id, -1, id, 0);
  const View out = place(id, target);
  b_.add("elementwise", "", Pointwise{e.finish(root), aligned(out, region_rank)});
  return out;
}

View Fuser::product(int id, std::optional<View> target) {
  const Node& n = g_[id];
  const View a = materialise(n.in[0]), b = materialise(n.in[1]), out = place(id, target);
  b_.add("product", "a product that no stream covers", Product{a, b, out, std::nullopt, g_[n.in[0]].type.kind == Kind::scores});
  return out;
}

Program fuse(const Graph& g) { return Fuser(g).run(); }

}  // namespace attune
