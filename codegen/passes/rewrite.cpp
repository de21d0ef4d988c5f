#include "passes/rewrite.h"

namespace attune {

int Rewriter::add(const Node& n) {
  for (int i = 0; i < int(g_.size()); ++i)
    if (g_[i].same(n)) return i;
  g_.nodes.push_back(n);
  return int(g_.size()) - 1;
}

int Rewriter::constant(double value, Kind kind, int line) {
  Node n{Op::constant, {kind, {}}, {}, operand_list({}), line};
  if (kind == Kind::integer) n.attr.count = long(value);
  else n.attr.value = value;
  return add(n);
}

Graph Rewriter::apply(const Graph& g, const Rule& rule) {
  std::vector<char> live(g.size());
  for (const Output& o : g.outputs) live[std::size_t(o.node)] = 1;
  for (int i = int(g.size()) - 1; i >= 0; --i)
    if (live[std::size_t(i)])
      for (int k : g[i].in)
        if (k >= 0) live[std::size_t(k)] = 1;
  Rewriter r;
  std::vector<int> renamed(g.size(), -1);
  for (int i = 0; i < int(g.size()); ++i) {
    if (!live[std::size_t(i)]) continue;
    Node n = g[i];
    for (int& k : n.in)
      if (k >= 0) k = renamed[std::size_t(k)];
    renamed[std::size_t(i)] = rule(r, n);
  }
  for (const Output& o : g.outputs) r.g_.outputs.push_back({o.name, renamed[std::size_t(o.node)]});
  // A rule may have left nodes that nothing uses any more.
  if (std::vector<char> used(r.g_.size()); true) {
    for (const Output& o : r.g_.outputs) used[std::size_t(o.node)] = 1;
    bool all = true;
    for (int i = int(r.g_.size()) - 1; i >= 0; --i) {
      if (!used[std::size_t(i)]) all = false;
      else
        for (int k : r.g_[i].in)
          if (k >= 0) used[std::size_t(k)] = 1;
    }
    if (!all) return apply(r.g_, [](Rewriter& w, const Node& n) { return w.add(n); });
  }
  return r.g_;
}

}  // namespace attune
