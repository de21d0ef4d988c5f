// From a spec to its graph: what is one node, in which order, with which names and lines.
#include <attune.h>
#include <zoo/textbook.h>

#include <algorithm>
#include <boost/hana/at_key.hpp>
#include <catch2/catch.hpp>

using namespace attune;

namespace {

int count(const Graph& g, Op op) {
  return int(std::count_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return n.op == op; }));
}
const Node& named(const Graph& g, std::string_view name) {
  return *std::find_if(g.nodes.begin(), g.nodes.end(), [&](const Node& n) { return n.attr.name == name; });
}

constexpr auto two_masks = [] {
  auto q = input<1, 2, 8, 4>("q");
  auto a = mask(matmul(q, transpose(q)), kv_index <= q_index);
  auto b = mask(matmul(input<1, 2, 8, 4>("q"), transpose(q)), kv_index <= q_index);
  return a + b;
};
static_assert(graph_of(two_masks).size() == 8);  // q, transpose, matmul, kv, q, <=, mask, +

template <int Layers>
constexpr auto layers = [] {
  constexpr auto layer = [](auto x, std::string_view w) { return x + tanh(linear<8>(x, w)); };
  auto x = input<4, 8>("x");
  for (int i = 0; i < Layers; ++i) x = layer(x, "w");
  return x;
};
static_assert(graph_of(layers<0>).size() == 1);
static_assert(graph_of(layers<1>).size() == 5);
static_assert(graph_of(layers<24>).size() == 2 + 24 * 3);

constexpr auto wq = numbered<12>("wq");
static_assert(wq[0] == "wq0" && wq[9] == "wq9" && wq[10] == "wq10" && wq[11] == "wq11");

}  // namespace

TEST_CASE("equal nodes are one, whoever wrote them") {
  const Graph g = graph_of(two_masks);
  CHECK(count(g, Op::input) == 1);
  CHECK(count(g, Op::transpose) == 1);
  CHECK(count(g, Op::matmul) == 1);
  CHECK(count(g, Op::mask) == 1);
  CHECK(count(g, Op::le) == 1);
  const Node& sum = g[g.outputs[0].node];
  REQUIRE(sum.op == Op::add);
  CHECK(sum.in[0] == sum.in[1]);
}

TEST_CASE("nodes that differ in one attribute are two") {
  const Graph g = graph_of([] {
    auto q = input<1, 2, 8, 4>("q");
    return rope(q) + rope(q, {.offset = 1}) + rope(q, {.pairs = half_split}) + rope(q, {.base = 5}) + rope(q, {.dims = 2}) + rope(q, {});
  });
  CHECK(count(g, Op::rope) == 5);
  const Graph numbers = graph_of([] {
    auto r = input<1, 2, 8, 4>("q");
    return r * 2 + r * 2.0 + r * 3 + r * 0.0;
  });
  CHECK(count(numbers, Op::constant) == 4);  // 2 the integer and 2.0 the real are two, as / tells them apart
  const Graph names = graph_of([] { return input<2>("a") + input<2>("b") + input<2>("a"); });
  CHECK(count(names, Op::input) == 2);
}

TEST_CASE("operands stand before their users, and each node is used or an output") {
  for (const Graph& g : {graph_of(zoo::textbook_mha<2, 16, 64, 4>), graph_of(layers<24>), graph_of(two_masks)}) {
    std::vector<int> uses(g.size());
    for (std::size_t i = 0; i < g.size(); ++i)
      for (int k = 0; k < g.nodes[i].operands(); ++k) {
        REQUIRE(g.nodes[i].in[std::size_t(k)] < int(i));
        ++uses[std::size_t(g.nodes[i].in[std::size_t(k)])];
      }
    for (const Output& o : g.outputs) ++uses[std::size_t(o.node)];
    CHECK(std::count(uses.begin(), uses.end(), 0) == 0);
  }
}

TEST_CASE("the textbook block is the graph that its ten lines read as") {
  const Graph g = graph_of(zoo::textbook_mha<2, 16, 64, 4>);
  CHECK(count(g, Op::linear) == 4);
  CHECK(count(g, Op::split_heads) == 3);
  CHECK(count(g, Op::rope) == 2);
  CHECK(count(g, Op::matmul) == 2);
  CHECK(count(g, Op::mask) == 1);
  CHECK(count(g, Op::reduce_rows) == 1);
  CHECK(count(g, Op::merge_heads) == 1);
  std::vector<std::string_view> weights;
  for (const Node& n : g.nodes)
    if (n.op == Op::weight) weights.push_back(n.attr.name);
  CHECK(weights == std::vector<std::string_view>{"wq", "wk", "wv", "wo"});
  REQUIRE(g.outputs.size() == 1);
  CHECK(g.outputs[0].name == "out");
  CHECK(g[g.outputs[0].node].type == tensor<2, 16, 64>::type);
}

TEST_CASE("a node knows the line that wrote it") {
  const int first = __LINE__;
  const Graph g = graph_of([] {
    auto q = input<1, 2, 8, 4>("q");
    auto x = input<1, 8, 8>("x");
    auto h = split_heads<2>(linear<8>(
        x, "w"));
    auto s = matmul(q, transpose(h));
    auto m = mask(s, kv_index <= 3);
    return softmax(m) - 1;
  });
  CHECK(named(g, "q").line == first + 2);
  CHECK(named(g, "x").line == first + 3);
  CHECK(named(g, "w").line == first + 4);
  for (const Node& n : g.nodes) {
    if (n.op == Op::matmul || n.op == Op::transpose) CHECK(n.line == first + 6);
    if (n.op == Op::mask || n.op == Op::le || n.op == Op::kv_index) CHECK(n.line == first + 7);
    if (n.op == Op::sub && n.type.kind == Kind::scores) CHECK(n.line == first + 8);  // an operator: its later operand's
  }
}

TEST_CASE("outputs come in the order and under the names of the spec") {
  const Graph g = graph_of([] {
    auto x = input<2, 4>("x");
    auto y = tanh(x);
    return outputs("z"_out = -y, "y"_out = y, "a"_out = y, "m2"_out = exp(x));
  });
  REQUIRE(g.outputs.size() == 4);
  CHECK(g.outputs[0].name == "z");
  CHECK(g.outputs[1].name == "y");
  CHECK(g.outputs[2].name == "a");
  CHECK(g.outputs[3].name == "m2");
  CHECK(g[g.outputs[0].node].op == Op::mul);
  CHECK(g.outputs[1].node == g.outputs[2].node);
  CHECK(g[g.outputs[3].node].op == Op::exp);
}

TEST_CASE("outputs are a hana map, by name") {
  constexpr bool both = [] {
    auto x = input<2, 4>("x");
    auto results = outputs("y"_out = x, "rows"_out = transpose(x));
    return std::is_same_v<std::remove_cvref_t<decltype(results.map[hana::string_c<'y'>])>, tensor<2, 4>> &&
           std::is_same_v<std::remove_cvref_t<decltype(results.map[hana::string_c<'r', 'o', 'w', 's'>])>, tensor<4, 2>>;
  }();
  CHECK(both);
  const Graph g = graph_of([] { return hana::make_map(hana::make_pair(hana::string_c<'y'>, -input<2>("x"))); });
  REQUIRE(g.outputs.size() == 1);
  CHECK(g.outputs[0].name == "y");
}

TEST_CASE("layers have weights of their own by numbered names") {
  const Graph g = graph_of([] {
    auto x = input<4, 8>("x");
    for (int i = 0; i < 12; ++i) x += linear<8>(x, wq[i]);
    return x;
  });
  CHECK(count(g, Op::weight) == 12);
  CHECK(named(g, "wq11").type == tensor<8, 8>::type);
}

TEST_CASE("a spec with captures runs where its values are known, and its faults are thrown") {
  for (int n : {1, 3}) {
    const Graph g = graph_of([n] {
      auto x = input<4, 8>("x");
      for (int i = 0; i < n; ++i) x = tanh(x);
      return x;
    });
    CHECK(count(g, Op::tanh) == n);
  }
  const auto rotated = [](long dims) { return graph_of([dims] { return rope(input<1, 1, 4, 8>("x"), {.dims = dims}); }); };
  CHECK_NOTHROW(rotated(8));
  CHECK_NOTHROW(rotated(2));
  CHECK_THROWS_AS(rotated(3), std::invalid_argument);
  CHECK_THROWS_AS(rotated(10), std::invalid_argument);
  CHECK_THROWS_AS(rotated(-2), std::invalid_argument);
}

TEST_CASE("a spec can be a function or an object as well as a lambda") {
  struct Scaled {
    double by;
    constexpr auto operator()() const { return input<3>("x") * by; }
  };
  const Graph g = graph_of(Scaled{2.5});
  REQUIRE(count(g, Op::constant) == 1);
  for (const Node& n : g.nodes)
    if (n.op == Op::constant) CHECK((n.type.kind == Kind::real && n.attr.value == 2.5));
}
