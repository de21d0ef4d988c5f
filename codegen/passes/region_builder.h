// What fused and unfused region building share: buffers, places, and the expression of a rotation.
#pragma once
#include <map>
#include "passes/expression.h"
#include "passes/fuse.h"

namespace attune {

class RegionBuilder {
 public:
  explicit RegionBuilder(const Graph& g);

  const Graph& graph() const { return g_; }
  const Node& node(int id) const { return g_[id]; }
  View input(int node);
  View weight(int node, bool transposed = false);
  View scratch(const Dims&, std::string name);
  View output(std::size_t index);  // of Graph::outputs
  // Memory in the order [b, t, h, d] for a value [b, h, t, d], so that merging heads is a view.
  View scratch_heads_inside(const Dims&, std::string name);
  void add(std::string title, std::string comment, decltype(Region::work) work);
  void copy(const View& from, const View& to, std::string title);

  // x, a term, rotated as the rope node `rope` says; x must be an element of [b, h, row, d] (rotary.cpp).
  int rotated(ExpressionBuilder&, int rope, int x);
  RowAlgebra algebra(int reduce);  // node, of a reduction or a row's value; the latter has no scale
  RowValue row_value(int node);
  InverseNorm norm(int inverse_norm);  // node
  // An index expression, as a term and on its own; `g` may be the graph with more behind its nodes.
  int index(ExpressionBuilder&, int node);
  Expression expression(const Graph& g, int node);
  Program finish();

 private:
  int buffer(Buffer);
  std::string free_name(const std::string& wish) const;  // the wish, numbered if another has that name
  View angles(int rope);
  // spread.cpp: where what a look_up of `g` reads lies, by coordinates; made once for a learned table that is read
  // by more than multiples of these.
  View looked_up(const Graph& g, int look_up);
  View spread(int look_up);
  Dims reached_by(int look_up) const;
  std::map<int, View> spread_;
  Graph g_;
  Program p_;
  std::map<std::pair<Buffer::Kind, std::string>, int> named_;
};

}  // namespace attune
