// Rebuilding a graph node by node: equal nodes stay one, unreachable ones drop out.
#pragma once
#include <attune/graph.h>
#include <functional>

namespace attune {

// Calls `rule` for every reachable node, operands first and already renamed to the new graph; the
// rule adds what it wants there and returns the id that stands for the node from now on.
class Rewriter {
 public:
  using Rule = std::function<int(Rewriter&, const Node&)>;
  static Graph apply(const Graph&, const Rule&);

  int add(const Node&);  // the id of the node, or of its equal
  int constant(double value, Kind, int line);
  const Node& operator[](int id) const { return g_[id]; }

 private:
  Graph g_;
};

}  // namespace attune
