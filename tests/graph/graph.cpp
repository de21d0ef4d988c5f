// Graphs as graph_of makes them.
#include <zoo/zoo.h>

#include <algorithm>
#include <array>
#include <boost/hana/for_each.hpp>
#include <catch2/catch.hpp>

using namespace attune;

namespace {

template <class Spec>
struct AtCompileTime {
  static constexpr std::size_t size = graph_of(Spec{}).size();
  static constexpr std::array<Node, size> nodes = [] {
    const Graph g = graph_of(Spec{});
    std::array<Node, size> r{};
    std::copy(g.nodes.begin(), g.nodes.end(), r.begin());
    return r;
  }();
  static constexpr int output = graph_of(Spec{}).outputs.at(0).node;
};

long count(const Graph& g, Op op) {
  return std::count_if(g.nodes.begin(), g.nodes.end(), [=](const Node& n) { return n.op == op; });
}

}  // namespace

TEST_CASE("a spec gives one graph at compile time and at run time") {
  boost::hana::for_each(zoo::all, [](const auto& entry) {
    INFO(entry.expression);
    using Constant = AtCompileTime<std::remove_cvref_t<decltype(entry.spec)>>;
    const Graph g = graph_of(entry.spec);
    REQUIRE(g.size() == Constant::size);
    for (std::size_t i = 0; i < g.size(); ++i) {
      CHECK(g.nodes[i].same(Constant::nodes[i]));
      CHECK(g.nodes[i].line == Constant::nodes[i].line);
    }
    REQUIRE(g.outputs.size() == 1);
    CHECK(g.outputs[0].name == "out");
    CHECK(g.outputs[0].node == Constant::output);
  });
}

TEST_CASE("equal nodes are one, wherever they were written") {
  const Graph g = graph_of([] {
    auto one = linear<4>(input<1, 3, 4>("x"), "w");
    auto two = linear<4>(input<1, 3, 4>("x"), "w");
    auto other = linear<4>(input<1, 3, 4>("x"), "w2");
    return one + two + other;
  });
  CHECK(count(g, Op::input) == 1);
  CHECK(count(g, Op::weight) == 2);
  CHECK(count(g, Op::linear) == 2);
  for (std::size_t i = 0; i < g.size(); ++i)
    for (std::size_t j = 0; j < i; ++j) CHECK_FALSE(g.nodes[i].same(g.nodes[j]));
}

TEST_CASE("nodes that differ in an attribute alone stay apart") {
  const Graph g = graph_of([] {
    auto x = input<1, 1, 3, 4>("x");
    return rope(x) + rope(x, {.base = 500}) + rope(x, {.pairs = half_split}) + rope(x, {.dims = 2}) + rope(x, {.offset = 1}) + rope(x);
  });
  CHECK(count(g, Op::rope) == 5);
}

TEST_CASE("operands stand before their users") {
  boost::hana::for_each(zoo::all, [](const auto& entry) {
    const Graph g = graph_of(entry.spec);
    for (int i = 0; i < int(g.size()); ++i)
      for (int in : g[i].in) CHECK(in < i);
  });
}
