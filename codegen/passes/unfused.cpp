#include <limits>

#include "passes/region_builder.h"

namespace attune {
namespace {

class Unfused {
 public:
  explicit Unfused(const Graph& g) : g_(g), b_(g), views_(g.size()) {}

  Program run() {
    for (int i = 0; i < int(g_.size()); ++i)
      if (!is_index(g_[i].type.kind) && g_[i].type.kind != Kind::integers && g_[i].op != Op::weight) views_[std::size_t(i)] = compute(i);
    for (std::size_t i = 0; i < g_.outputs.size(); ++i)
      if (View out = b_.output(i); !(out == views_[std::size_t(g_.outputs[i].node)])) b_.copy(views_[std::size_t(g_.outputs[i].node)], out, "copy");
    return b_.finish();
  }

 private:
  const Graph& g_;
  RegionBuilder b_;
  std::vector<View> views_;

  const View& of(int id) const { return views_[std::size_t(id)]; }
  View place(int id) {  // the first output of a node is where it is computed
    for (std::size_t i = 0; i < g_.outputs.size(); ++i)
      if (g_.outputs[i].node == id) return b_.output(i);
    return b_.scratch(g_[id].type.dims, "t");
  }

  View compute(int id) {
    const Node& n = g_[id];
    if (n.op == Op::input) return b_.input(id);
    const View out = place(id);
    const auto copy = [&](const View& v) { b_.copy(v, out, "copy"); };
    switch (n.op) {
      case Op::linear: {
        const View w = aligned(transposed(b_.weight(n.in[1], true)), region_rank);
        std::optional<View> bias;
        if (n.in[2] >= 0) bias = aligned(b_.weight(n.in[2]), region_rank);
        b_.add("linear", "", Product{aligned(of(n.in[0]), region_rank), w, aligned(out, region_rank), bias});
        break;
      }
      case Op::split_heads: copy(heads_split(of(n.in[0]), n.attr.count).value()); break;
      case Op::merge_heads: copy(heads_merged(of(n.in[0]))); break;
      case Op::repeat_heads: copy(heads_repeated(of(n.in[0]), n.attr.count)); break;
      case Op::transpose: copy(transposed(of(n.in[0]))); break;
      case Op::inverse_norm: b_.add("norms", "what normalises each row", RowNorm{aligned(of(n.in[0]), region_rank), aligned(out, region_rank), b_.norm(id)}); break;
      case Op::matmul: b_.add("matmul", "", Product{of(n.in[0]), of(n.in[1]), out, std::nullopt}); break;
      case Op::unsqueeze: copy(unsqueezed(of(n.in[0]), n.attr.count)); break;
      case Op::features: copy(features_of(of(n.in[0]), n.attr.from, n.attr.count).value()); break;
      case Op::reduce_rows: b_.add("reduce", "", RowReduce{of(n.in[0]), out, b_.algebra(id)}); break;
      case Op::row_value: b_.add("row_value", "", RowReduce{of(n.in[0]), out, b_.algebra(id), b_.row_value(id)}); break;
      default: {
        ExpressionBuilder e;
        const auto term = [&](int k) { return is_index(g_[k].type.kind) ? b_.index(e, k) : e.tensor(aligned(g_[k].op == Op::weight ? b_.weight(k) : of(k), region_rank)); };
        int root = -1;
        if (n.op == Op::rope) root = b_.rotated(e, id, term(n.in[0]));
        else if (n.op == Op::mask) root = e.apply(Fn::select, Kind::real, {term(n.in[1]), term(n.in[0]), e.constant(-std::numeric_limits<double>::infinity())});
        else {
          std::vector<int> in;
          for (int k : n.in)
            if (k >= 0) in.push_back(term(k));
          root = e.elementwise(n.op, n.type.kind, in);
        }
        b_.add("elementwise", "", Pointwise{e.finish(root), aligned(out, region_rank)});
      }
    }
    return out;
  }
};

}  // namespace

Program unfused(const Graph& g) { return Unfused(g).run(); }

}  // namespace attune
