#include "passes/fuse.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>

#include "graph/expression.h"
#include "passes/region_builder.h"

namespace attune {
namespace {

// Partners of a rotation are whole vectors apart on every ISA if their distance is a multiple of this.
constexpr long widest_vector = 16;

bool elementwise(Op op) { return op >= Op::add && op <= Op::negation; }

class Fuser {
 public:
  explicit Fuser(const Graph& g) : g_(g), b_(g), views_(g.size()), users_(g.size()) {
    for (const Node& n : g.nodes)
      for (int k : n.in)
        if (k >= 0) users_[std::size_t(k)].push_back(int(&n - g.nodes.data()));
    for (const Output& o : g.outputs) users_[std::size_t(o.node)].push_back(-1);
  }

  Program run() {
    std::vector<std::size_t> order(g_.outputs.size());
    for (std::size_t i = 0; i < order.size(); ++i) order[i] = i;
    for (std::size_t i : order) wanted_.emplace(g_.outputs[i].node, b_.output(i));
    std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) { return g_.outputs[a].node < g_.outputs[b].node; });
    for (std::size_t i : order) materialise(g_.outputs[i].node, b_.output(i));
    return b_.finish();
  }

 private:
  const Graph& g_;
  RegionBuilder b_;
  std::vector<std::optional<View>> views_;
  std::vector<std::vector<int>> users_;
  std::map<int, View> wanted_;  // where what comes out of another node's region belongs

  bool private_to_user(int n) const { return !views_[std::size_t(n)] && users_[std::size_t(n)].size() == 1 && g_[n].op != Op::input; }

  // The view of a node's value, computing it if need be; into `target` if there is one.
  View materialise(int id, std::optional<View> target = {}) {
    auto& known = views_[std::size_t(id)];
    if (known) {
      return copied(*known, target);
    }
    const View v = compute(id, target);
    views_[std::size_t(id)] = v;
    return v;
  }

  View compute(int id, std::optional<View> target) {
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
        b_.norm(id, in, out);
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
    return pointwise(id, target);
  }

  View copied(View v, const std::optional<View>& target) {
    if (target && !(v == *target)) b_.copy(v, *target, "copy");
    return v;
  }

  // A change of view. With a target that can be seen backwards, the operand is computed right into it.
  template <class Inverse, class Forward>
  View view(int id, const std::optional<View>& target, Inverse inverse, Forward forward) {
    const int x = g_[id].in[0];
    if (target && private_to_user(x))
      if (const std::optional<View> back = inverse(*target)) {
        materialise(x, back);
        return *target;
      }
    return copied(forward(materialise(x)), target);
  }

  // A dense copy.
  View packed(const View& v) {
    Dims d{int(v.dims.size()), {}};
    for (int i = 0; i < d.rank; ++i) d[i] = extent_of(v.dims[std::size_t(i)]);
    const View to = b_.scratch(d, "copy");
    b_.copy(v, to, "copy");
    return to;
  }

  // A rank-3 view split into heads: of a dense copy where they cut an axis unevenly.
  View in_heads(const View& v, long heads) {
    if (const std::optional<View> split = heads_split(v, heads)) return *split;
    return heads_split(packed(v), heads).value();
  }

  // Where a computed node is stored.
  View place(int id, const std::optional<View>& target, std::string name = "t") {
    if (target) return *target;
    const Dims& d = g_[id].type.dims;
    const auto& users = users_[std::size_t(id)];
    const bool merged = std::any_of(users.begin(), users.end(), [&](int u) { return u >= 0 && g_[u].op == Op::merge_heads; });
    return merged ? b_.scratch_heads_inside(d, name) : b_.scratch(d, name);
  }

  // The view itself if the given dims have one stride each, the last of them 1 if `unit`; else a dense copy.
  View simple(View v, std::initializer_list<int> dims, bool unit, const Dims& shape) {
    bool ok = true;
    for (int d : dims) ok = ok && stride_of(v.dims[std::size_t(d)]);
    if (unit) ok = ok && (v.dims.back().empty() || stride_of(v.dims.back()) == 1);
    if (ok) return v;
    const View to = b_.scratch(shape, "copy");
    b_.copy(v, to, "copy");
    return to;
  }

  // ---- elementwise trees ----------------------------------------------------------------------

  // The term of node `id` over four coordinates. `acc` is the node that the accumulator holds, if
  // any; `heads`, if not 0, says that coordinates are split into that many heads above this node.
  int term(ExpressionBuilder& e, int id, int acc, int root, long heads) {
    const Node& n = g_[id];
    if (id == acc) return e.apply(Fn::acc, Kind::real, {});
    if (is_index(n.type.kind)) return b_.index(e, id);
    if (n.op == Op::split_heads && acc >= 0 && leads_to(id, acc)) return term(e, n.in[0], acc, root, n.attr.count);
    // Coordinates are those of the root's elements: an index expression keeps to scores of its shape.
    const bool same_place = n.type.kind != Kind::scores || n.type.dims == g_[root].type.dims;
    const bool inside = id == root || (!views_[std::size_t(id)] && same_place && (private_to_user(id) || leads_to(id, acc)));
    if (inside && n.op == Op::mask) {
      const int x = term(e, n.in[0], acc, root, heads);
      return e.apply(Fn::select, Kind::real, {b_.index(e, n.in[1]), x, e.constant(-std::numeric_limits<double>::infinity())});
    }
    if (n.op == Op::rope && acc >= 0 && leads_to(id, acc)) return b_.rotated(e, id, term(e, n.in[0], acc, root, heads));
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
  int leaf(ExpressionBuilder& e, int id, long heads, int lanes = -1) {
    View v = materialise(id);
    if (heads) v = in_heads(aligned(v, 3), heads);
    v = aligned(v, region_rank);
    if (lanes >= 0) v = simple(v, {lanes}, false, {4, {extent_of(v.dims[0]), extent_of(v.dims[1]), extent_of(v.dims[2]), extent_of(v.dims[3])}});
    return e.tensor(v);
  }
  bool leads_to(int id, int acc) const {
    if (id == acc) return true;
    if (acc < 0 || id < acc) return false;
    return std::any_of(g_[id].in.begin(), g_[id].in.end(), [&](int k) { return k >= 0 && leads_to(k, acc); });
  }

  View pointwise(int id, std::optional<View> target) {
    ExpressionBuilder e;
    const int root = term(e, id, -1, id, 0);
    const View out = place(id, target);
    b_.add("elementwise", "", Pointwise{e.finish(root), aligned(out, region_rank)});
    return out;
  }

  // ---- projections ----------------------------------------------------------------------------

  // The linear whose epilogue can carry everything up to node `id`, or -1: one linear below, of
  // which nothing but this chain reads, with at most one split of heads on the way.
  int projection_below(int id) const { return projection_below(id, id, false); }
  int projection_below(int id, int root, bool split) const {
    const Node& n = g_[id];
    if (id != root && !private_to_user(id)) return -1;
    if (n.op == Op::linear) return id;
    if (n.op == Op::split_heads) return split || g_[n.in[0]].type.dims.rank != 3 ? -1 : projection_below(n.in[0], root, true);
    if (n.op == Op::rope) {
      const PairRotation& r = n.attr.rotation;
      const long d = n.type.dims[-1];
      const bool whole = r.dims == 0 || r.dims == d;
      return whole && (r.pairs == Pairs::interleaved || d / 2 % widest_vector == 0) ? projection_below(n.in[0], root, split) : -1;
    }
    if (!elementwise(n.op)) return -1;
    for (int k : n.in) {
      if (k < 0 || is_index(g_[k].type.kind) || g_[k].type.dims != n.type.dims) continue;
      if (int l = projection_below(k, root, split); l >= 0) return l;
    }
    return -1;
  }

  View contract(int id, int linear, std::optional<View> target) {
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
    int root = term(e, id, linear, id, 0);
    if (l.in[2] >= 0) root = biased(e, root, l, split ? s.groups : 0);
    s.epilogue = e.finish(root);
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
  int biased(ExpressionBuilder& e, int root, const Node& l, long heads) {
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

  // ---- scores, reduction, values --------------------------------------------------------------

  // Whether the scores `id` are the matmul of two tensors, or a sum of such; adds those if there is a list.
  bool sums_products(int id, std::vector<int>* products = nullptr) const {
    const Node& n = g_[id];
    if (n.op == Op::add) return g_[n.in[0]].type == n.type && g_[n.in[1]].type == n.type && sums_products(n.in[0], products) && sums_products(n.in[1], products);
    if (n.op != Op::matmul || g_[n.in[0]].type.kind == Kind::scores) return false;
    if (products) products->push_back(id);
    return true;
  }
  // What sums products below the scores `id`, or -1.
  int product_below(int id) const {
    const Node& n = g_[id];
    if (sums_products(id)) return id;
    if (n.op != Op::mask && !elementwise(n.op)) return -1;
    for (int k : n.in) {
      if (k < 0 || is_index(g_[k].type.kind) || g_[k].type.dims != n.type.dims) continue;
      if (int m = product_below(k); m >= 0) return m;
    }
    return -1;
  }
  // The reduction whose weights these scores are, each times what factors of its pair there are; or -1.
  // If they are stored too, since they are results, they are not read: to compute them again costs less.
  int reduction_below(int id) const {
    const Node& n = g_[id];
    if (n.op == Op::reduce_rows) return id;
    if (n.op != Op::mul && n.op != Op::div) return -1;
    for (int k : {n.in[0], n.op == Op::mul ? n.in[1] : -1})
      if (k >= 0 && g_[k].type == n.type)
        if (int r = reduction_below(k); r >= 0) return r;
    return -1;
  }
  bool stream_at(int id) const {
    const int reduce = reduction_below(g_[id].in[0]);
    return reduce >= 0 && product_below(g_[reduce].in[0]) >= 0;
  }

  int scores_term(ExpressionBuilder& e, int id, int acc) {  // scores are recomputed, never read, however many want them
    const Node& n = g_[id];
    if (id == acc) return e.apply(Fn::acc, Kind::real, {});
    if (is_index(n.type.kind)) return b_.index(e, id);
    if (!(n.op == Op::mask || elementwise(n.op)) || !leads_to(id, acc)) return leaf(e, id, 0, 2);
    const int x = scores_term(e, n.in[0], acc);
    if (n.op == Op::mask) return e.apply(Fn::select, Kind::real, {b_.index(e, n.in[1]), x, e.constant(-std::numeric_limits<double>::infinity())});
    std::vector<int> in{x};
    if (n.in[1] >= 0) in.push_back(scores_term(e, n.in[1], acc));
    return e.elementwise(n.op, n.type.kind, in);
  }

  int factored_term(ExpressionBuilder& e, int id, int weights) {
    const Node& n = g_[id];
    if (id == weights) return e.apply(Fn::acc, Kind::real, {});
    if (is_index(n.type.kind)) return b_.index(e, id);
    if (reduction_below(id) != weights) return leaf(e, id, 0, 2);
    std::vector<int> in;
    for (std::size_t i = 0; i < 2; ++i) in.push_back(factored_term(e, n.in[i], weights));
    return e.elementwise(n.op, n.type.kind, in);
  }

  // Whether the product streams with the same weights of the same scores, and does not itself need the row's value.
  bool comes_with(int value, int product) const {
    const Operands &a = g_[value].in, &b = g_[reduction_below(g_[product].in[0])].in;
    return !views_[std::size_t(value)] && std::equal(a.begin(), a.begin() + 3, b.begin()) && !leads_to(product, value);
  }

  // In the region of a product with the same weights, if one streams; else of stored scores.
  View row_value(int id, std::optional<View> target) {
    if (target) wanted_.insert_or_assign(id, *target);
    for (int m = 0; m < int(g_.size()); ++m) {
      if (g_[m].op != Op::matmul || views_[std::size_t(m)] || users_[std::size_t(m)].empty() || !stream_at(m) || !comes_with(id, m)) continue;
      const auto to = wanted_.find(m);
      materialise(m, to == wanted_.end() ? std::nullopt : std::optional(to->second));
      return copied(views_[std::size_t(id)].value(), target);
    }
    const View in = materialise(g_[id].in[0]), out = place(id, target, "row_value");
    b_.add("row_value", "reduces rows of a stored matrix", RowReduce{in, out, b_.algebra(id), b_.row_value(id)});
    return out;
  }

  // Adds what else is wanted of the state of a product's rows, each where it is wanted.
  void add_row_values(Stream& s, int product) {
    for (int n = 0; n < int(g_.size()); ++n) {
      if (g_[n].op != Op::row_value || users_[std::size_t(n)].empty() || !comes_with(n, product)) continue;
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

  View stream(int id, std::optional<View> target) {
    const Node& m = g_[id];
    const int reduce = reduction_below(m.in[0]);
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
    const int acc = product_below(scores);
    ExpressionBuilder e;
    const int root = scores_term(e, scores, acc);
    s.element = e.finish(root);
    s.scale = extract_scale(s.element);
    if (keep >= 0) s.keep = Predicate{predicates, keep, b_.expression(*predicates, keep), mentions(*predicates, keep, Op::look_up)};
    s.algebra = b_.algebra(reduce);
    ExpressionBuilder f;
    s.factored = f.finish(factored_term(f, m.in[0], reduce));
    add_row_values(s, id);
    std::vector<int> products;
    sums_products(acc, &products);
    for (const int p : products) {
      const Dims &qd = g_[g_[p].in[0]].type.dims, &kd = g_[g_[p].in[1]].type.dims;
      s.dots.push_back({simple(materialise(g_[p].in[0]), {2, 3}, false, qd), simple(transposed(materialise(g_[p].in[1])), {2, 3}, false, {4, {kd[0], kd[1], kd[3], kd[2]}}), qd[3]});
      s.depth += qd[3];
    }
    const Dims &sd = g_[acc].type.dims, &vd = g_[m.in[1]].type.dims;
    s.v = simple(materialise(m.in[1]), {2, 3}, true, vd);
    s.outer0 = sd[0];
    s.outer1 = sd[1];
    s.rows = sd[2];
    s.cols = sd[3];
    s.width = vd[3];
    const View stored = place(id, target, "heads");
    const bool direct = stride_of(stored.dims[2]) && (stored.dims[3].empty() || stride_of(stored.dims[3]) == 1);
    s.out = direct ? stored : b_.scratch(m.type.dims, "heads");
    const View out = s.out;
    b_.add("attention", "", std::move(s));
    if (!direct) b_.copy(out, stored, "copy");
    return stored;
  }

  View product(int id, std::optional<View> target) {
    const Node& n = g_[id];
    const View a = materialise(n.in[0]), b = materialise(n.in[1]), out = place(id, target);
    b_.add("product", "a product that no stream covers", Product{a, b, out, std::nullopt, g_[n.in[0]].type.kind == Kind::scores});
    return out;
  }
};

}  // namespace

Program fuse(const Graph& g) { return Fuser(g).run(); }

}  // namespace attune
