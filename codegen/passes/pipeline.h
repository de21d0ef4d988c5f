// The passes from graph to graph, by name, in the order in which they run.
#pragma once
#include <attune/graph.h>
#include <functional>
#include <string>
#include <vector>

namespace attune {

struct Pass {
  std::string name;
  std::function<Graph(const Graph&)> run;
};
std::vector<Pass> passes();

}  // namespace attune
