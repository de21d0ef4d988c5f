// Graphs made node by node at run time, typed by the language's own rules.
#pragma once
#include <attune/graph.h>

#include <string>
#include <vector>

#include "graph/expression.h"

namespace attune::fuzz {

class Builder {
 public:
  // The id of a node of type `infer` (attune/rules.h), or of its equal. Throws std::logic_error,
  // with the op's name, where the operands break a rule.
  int op(Op, std::vector<int> operands, Attr = {});
  // Tensors of shape `dims` under a name of their own.
  int input(const Dims&);
  int weight(const Dims&);

  // Index expressions and the algebra of reductions.
  int leaf(Op);
  int integer(long);
  int real(double);

  // A table of its own, of int32 or f32, read at these indices.
  int look_up(Kind element, const Dims&, std::vector<int> at);

  void output(int node);
  // What the outputs reach.
  Graph finish() const;

  const Node& operator[](int id) const { return g_[id]; }
  bool mentions(int id, Op leaf) const { return attune::mentions(g_, id, leaf); }
  const Type& type(int id) const { return g_[id].type; }
  int size() const { return int(g_.size()); }

 private:
  int add(Node);
  Graph g_;
};

}  // namespace attune::fuzz
