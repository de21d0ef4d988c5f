// Graphs as text, to the letter.
#include "graph/print.h"

#include <fmt/format.h>
#include <zoo/textbook.h>

#include <catch2/catch.hpp>

using namespace attune;

namespace {

// On one line, so that every node has the same.
constexpr auto small = [] { return linear<4>(merge_heads(matmul(softmax(mask(matmul(input<1, 2, 3, 2>("q"), transpose(input<1, 2, 3, 2>("k"))) / 2.0, kv_index <= q_index)), rope(input<1, 2, 3, 2>("v"), {.base = 500, .pairs = half_split, .offset = 3}))), "wo", "bo"); };
constexpr int line = __LINE__ - 1;

// The text of the predicate of a mask or, by `s + e`, of a number.
template <class E>
std::string text_of(E e) {
  const Graph g = graph_of([=] {
    auto s = matmul(input<1, 1, 2, 2>("q"), input<1, 1, 2, 2>("k"));
    if constexpr (E::kind == Kind::predicate)
      return mask(s, e);
    else
      return s + e;
  });
  return expression_text(g, g[g.outputs[0].node].in[1]);
}

}  // namespace

TEST_CASE("a graph prints a tensor a line, index expressions in line") {
  const Graph g = graph_of(small);
  CHECK(to_text(g) == fmt::format(R"(%0 = input("q") : tensor<1,2,3,2>  // line {0}
%1 = input("k") : tensor<1,2,3,2>  // line {0}
%2 = transpose(%1) : tensor<1,2,2,3>  // line {0}
%3 = matmul(%0, %2) : scores<1,2,3,3>  // line {0}
%5 = %3 / 2.0 : scores<1,2,3,3>  // line {0}
%9 = mask(%5, kv_index <= q_index) : scores<1,2,3,3>  // line {0}
%20 = reduce_rows(%9, weight exp(score - row_max), rescale exp(old_max - row_max), scale 1.0 / row_sum) : scores<1,2,3,3>  // line {0}
%21 = input("v") : tensor<1,2,3,2>  // line {0}
%32 = rope(%21, frequency exp(pair_index * -1.0 * log(500.0)), position seq_index + 3, half_split) : tensor<1,2,3,2>  // line {0}
%33 = matmul(%20, %32) : tensor<1,2,3,2>  // line {0}
%34 = merge_heads(%33) : tensor<1,3,4>  // line {0}
%35 = weight("wo") : tensor<4,4>  // line {0}
%36 = weight("bo") : tensor<4>  // line {0}
%37 = linear(%34, %35, %36) : tensor<1,3,4>  // line {0}
output "out" = %37
)",
                                  line));
}

TEST_CASE("a row's value prints as the reduction that it is of") {
  const Graph g = graph_of([] { return unsqueeze<-1>(logsumexp(matmul(input<1, 2, 3, 2>("q"), input<1, 2, 2, 3>("k")))); });
  CHECK(node_text(g, g[g.outputs[0].node].in[0]) == "row_value(%2, weight exp(score - row_max), rescale exp(old_max - row_max), value row_max + log(row_sum))");
  CHECK(node_text(g, g.outputs[0].node).starts_with("unsqueeze<3>(%"));
  const Graph some = graph_of([] { return features<1, 2>(input<2, 3>("x")); });
  CHECK(node_text(some, some.outputs[0].node) == "features<1, 2>(%0)");
}

TEST_CASE("a graph prints as Graphviz") {
  const Graph g = graph_of([] { return outputs("y"_out = split_heads<2>(input<1, 3, 4>("x")) * 2); });
  CHECK(to_graphviz(g) == R"(digraph attune {
  node [shape=box, fontname="monospace"];
  n0 [label="input(\"x\")\ntensor<1,3,4>", style=rounded];
  n1 [label="split_heads<2>(%0)\ntensor<1,2,3,2>"];
  n3 [label="%1 * 2\ntensor<1,2,3,2>"];
  n0 -> n1;
  n1 -> n3;
  out0 [label="y", shape=plaintext];
  n3 -> out0;
}
)");
}

TEST_CASE("expressions have the parentheses that they need and no more") {
  CHECK(text_of(kv_index <= q_index && q_index - kv_index < 4) == "kv_index <= q_index && q_index - kv_index < 4");
  CHECK(text_of((kv_index < 4 && batch_index == 0) || q_index != 2) == "kv_index < 4 && batch_index == 0 || q_index != 2");
  CHECK(text_of(kv_index < 4 && (batch_index == 0 || q_index == 2)) == "kv_index < 4 && (batch_index == 0 || q_index == 2)");
  CHECK(text_of(!(kv_index < 4 && q_index < 4)) == "!(kv_index < 4 && q_index < 4)");
  CHECK(text_of(kv_index > q_index) == "q_index < kv_index");
  CHECK(text_of((q_index + 1) * 2 - kv_index / 3 % 2) == "(q_index + 1) * 2 - kv_index / 3 % 2");
  CHECK(text_of(q_index - (kv_index - 1)) == "q_index - (kv_index - 1)");
  CHECK(text_of(q_index - kv_index - 1) == "q_index - kv_index - 1");
  CHECK(text_of(q_index + (kv_index + 1)) == "q_index + kv_index + 1");
  CHECK(text_of(q_index * (kv_index / 2)) == "q_index * (kv_index / 2)");
  CHECK(text_of(-kv_index + -2 * -(q_index + 1)) == "-kv_index + -2 * -(q_index + 1)");
  CHECK(text_of(0.5 * head_index + exp(-1.0 * kv_index) / 1e20) == "0.5 * head_index + exp(-1.0 * kv_index) / 1e+20");
  CHECK(text_of(min(kv_index, q_index + 1) * 3.0) == "min(kv_index, q_index + 1) * 3.0");
  CHECK(text_of(tanh((kv_index - q_index) / 4.0)) == "tanh((kv_index - q_index) / 4.0)");
}

TEST_CASE("every op and kind has a name") {
  CHECK(name_of(Op::input) == "input");
  CHECK(name_of(Op::reduce_rows) == "reduce_rows");
  CHECK(name_of(Op::add) == "add");
  CHECK(name_of(Op::negation) == "negation");
  CHECK(name_of(Op::constant) == "constant");
  CHECK(name_of(Op::row_sum) == "row_sum");
  CHECK(type_text({Kind::scores, {4, {1, 2, 3, 4}}}) == "scores<1,2,3,4>");
  CHECK(type_text({Kind::tensor, {1, {7}}}) == "tensor<7>");
  CHECK(type_text({Kind::predicate, {}}) == "predicate");
}

TEST_CASE("a broken graph prints too") {
  Graph g = graph_of(zoo::sdpa<1, 1, 2, 2, true>);
  g.nodes[2].in[0] = 5;   // after its user
  g.nodes[3].in[1] = 99;  // nowhere
  const std::string text = to_text(g);
  CHECK_THAT(text, Catch::Contains("%2 = transpose(%5)"));
  CHECK_THAT(text, Catch::Contains("%3 = matmul(%0, %99)"));
}
