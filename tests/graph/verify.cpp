// The verifier: what it takes, and what it says of broken graphs.
#include "graph/verify.h"

#include <zoo/zoo.h>

#include <boost/hana/for_each.hpp>
#include <catch2/catch.hpp>
#include <functional>

#include "graph/reference.h"

using namespace attune;
using Catch::Contains;

namespace {

int find(const Graph& g, Op op) {
  for (int i = 0; i < int(g.size()); ++i)
    if (g[i].op == op) return i;
  FAIL("no such op");
  return -1;
}

Node& at(Graph& g, Op op) { return g.nodes[std::size_t(find(g, op))]; }

// A causal block, broken by hand.
std::string complaint_after(const std::function<void(Graph&)>& damage) {
  Graph g = graph_of(zoo::textbook_mha<1, 4, 8, 2>);
  damage(g);
  try {
    verify(g);
  } catch (const InvalidGraph& e) {
    return e.what();
  }
  return "nothing";
}

template <class Spec>
std::string complaint_of(Spec spec) {
  try {
    verify(graph_of(spec));
  } catch (const InvalidGraph& e) {
    return e.what();
  }
  return "nothing";
}

constexpr auto any_scores() { return matmul(input<1, 2, 4, 3>("q"), transpose(input<1, 2, 4, 3>("k"))); }
constexpr auto any_values() { return input<1, 2, 4, 3>("v"); }

}  // namespace

TEST_CASE("the zoo is valid") {
  boost::hana::for_each(zoo::all, [](const auto& entry) {
    INFO(entry.expression);
    CHECK_NOTHROW(verify(graph_of(entry.spec)));
  });
  CHECK(complaint_after([](Graph&) {}) == "nothing");
}

TEST_CASE("a complaint names the line, the node and what is wrong") {
  const Graph g = graph_of(zoo::textbook_mha<1, 4, 8, 2>);
  const int mask = find(g, Op::mask);
  const std::string message = complaint_after([](Graph& broken) { at(broken, Op::mask).in[0] = find(broken, Op::transpose); });
  CHECK(message == "line " + std::to_string(g[mask].line) + ": %" + std::to_string(mask) + " = mask(%" + std::to_string(find(g, Op::transpose)) +
                       ", kv_index <= q_index): what is masked is no score matrix; mask the result of matmul(q, transpose(k))");
  Graph broken = g;
  at(broken, Op::mask).in[0] = find(g, Op::transpose);
  try {
    verify(broken);
    FAIL("accepted");
  } catch (const InvalidGraph& e) {
    CHECK(e.node == mask);
  }
}

TEST_CASE("operands: order, number, kind") {
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::linear).in[0] = int(g.size()) - 1; }), Contains("does not stand before it"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::rope).in[0] = find(g, Op::rope); }), Contains("does not stand before it"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::linear).in[1] = 1000; }), Contains("operand 1 is node 1000, which does not exist"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::mask).in[1] = -1; }), Contains("mask takes 2 operands, but operand 1 is missing"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::split_heads).in[1] = 0; }), Contains("split_heads takes 1 operands, but there is an operand 1"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::input).in[0] = -5; }), Contains("does not exist"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::mask).in[1] = find(g, Op::kv_index); }), Contains("what to keep is no predicate"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::rope).in[0] = find(g, Op::linear); }), Contains("the operand has rank 3, not 4"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::merge_heads).in[0] = find(g, Op::le); }), Contains("an index expression stands where a tensor belongs"));
}

TEST_CASE("types are what the rules of shapes say") {
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::linear).type.dims[2] = 9; }), Contains("its type is tensor<1,4,9>, but linear of these operands is tensor<1,4,8>"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::mask).type.kind = Kind::tensor; }), Contains("its type is tensor<1,2,4,4>, but mask of these operands is scores<1,2,4,4>"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::split_heads).attr.count = 3; }), Contains("3 heads do not divide 8 features"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::weight).type.dims[1] = 7; }), Contains("the weight is tensor<8,7>, but these features need tensor<8,8>"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::input).type.dims[1] = -1; }), Contains("extent -1 is negative"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::input).type.kind = Kind::scores; }), Contains("can not be of kind scores"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::le).type.kind = Kind::integer; }), Contains("its kind is integer, but le of its operands is predicate"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::q_index).type.kind = Kind::real; }), Contains("its kind is real, but q_index of its operands is integer"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::rope).attr.rotation.dims = 6; }), Contains("6 of 4 dims are rotated"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::rope).attr.rotation.amplitude = 0; }), Contains("its amplitude is 0"));
  CHECK_THAT(complaint_after([](Graph& g) {
               for (Node& n : g.nodes)
                 if (n.op == Op::constant && n.attr.value == 10000) n.attr.value = -1;
             }),
             Contains("is the base positive and finite?"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::seq_index).op = Op::q_index; }), Contains("its position uses what it can not know"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::pair_index).op = Op::head_index; }), Contains("its frequency uses what it can not know"));
  CHECK_THAT(complaint_after([](Graph& g) { std::swap(at(g, Op::rope).in[1], at(g, Op::rope).in[2]); }), Contains("its position is no integer"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::rope).in[3] = find(g, Op::weight); }), Contains("the divisors are weight"));
}

TEST_CASE("index expressions: divisors, and where coordinates are known") {
  Graph g = graph_of([] { return matmul(softmax(mask(any_scores(), kv_index / 2 == q_index % 2)), any_values()); });
  CHECK_NOTHROW(verify(g));
  SECTION("integers are divided by positive literals") {
    for (Op op : {Op::div, Op::mod}) {
      for (Node& n : g.nodes)
        if (n.op == op && n.type.kind == Kind::integer) n.in[1] = find(g, Op::kv_index) < find(g, op) ? find(g, Op::kv_index) : 0;
      CHECK_THROWS_WITH(verify(g), Contains("divided by a positive literal only"));
    }
    Graph zero = graph_of([] { return mask(any_scores(), kv_index / 2 == q_index); });
    at(zero, Op::constant).attr.count = 0;
    CHECK_THROWS_WITH(verify(zero), Contains("divided by a positive literal only"));
  }
  SECTION("only scores have coordinates") {
    Graph t = graph_of([] { return any_scores() * kv_index; });
    at(t, Op::mul).in[0] = find(t, Op::transpose);
    at(t, Op::mul).type = at(t, Op::transpose).type;
    CHECK_THROWS_WITH(verify(t), Contains("meets a tensor that is no score matrix"));
  }
  SECTION("row state stands in an algebra only") {
    Graph t = graph_of([] { return mask(any_scores(), kv_index <= q_index); });
    at(t, Op::q_index).op = Op::row_max;
    at(t, Op::row_max).type.kind = Kind::real;
    CHECK_THROWS_WITH(verify(t), Contains("known inside an algebra only"));
  }
}

TEST_CASE("names and outputs") {
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::input).attr.name = ""; }), Contains("this input has no name"));
  CHECK_THAT(complaint_after([](Graph& g) { at(g, Op::input).attr.name = "wk"; }), Contains("the name 'wk' belongs to %0 already"));
  CHECK(complaint_after([](Graph& g) { g.outputs.clear(); }) == "the graph has no outputs");
  CHECK(complaint_after([](Graph& g) { g.outputs[0].node = 99; }) == "output 'out' is node 99, which does not exist");
  CHECK_THAT(complaint_after([](Graph& g) { g.outputs[0].node = find(g, Op::le); }), Contains("output 'out' is an index expression"));
  CHECK_THAT(complaint_after([](Graph& g) { g.outputs.push_back(g.outputs[0]); }), Contains("there are two outputs 'out'"));
  const Graph tables = graph_of([] { return mask(matmul(input<1, 1, 4, 2>("q"), transpose(input<1, 1, 4, 2>("k"))), kv_index <= table<int32, 4>("ends")(q_index)); });
  Graph of_table = tables;
  of_table.outputs[0].node = find(of_table, Op::look_up) - 1;
  while (of_table[of_table.outputs[0].node].type.kind != Kind::integers) --of_table.outputs[0].node;
  CHECK_THROWS_WITH(verify(of_table), Contains("is a table of integers"));
  CHECK_THAT(complaint_after([](Graph& g) { g.outputs[0].name = "x"; }), Contains("output 'x' has the name of an input"));
}

TEST_CASE("an algebra's rescale must carry its weight") {
  const auto of = [](auto a) { return complaint_of([=] { return row_reduction(any_scores(), a); }); };
  CHECK(of(softmax_algebra) == "nothing");
  CHECK(of(algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(0 - row_max)))) == "nothing");
  CHECK(of(algebra(1.0 / (1.0 + exp(0 - score)), 1, 1)) == "nothing");
  CHECK(of(algebra(max(score, 0.0), 1, 1.0 / row_sum)) == "nothing");
  CHECK_THAT(of(algebra(exp(score - row_max), 1, 1.0 / row_sum)), Contains("its weight exp(score - row_max) knows row_max, but its rescale is 1; say how"));
  CHECK_THAT(of(algebra(exp(score - row_max), exp(row_max - old_max), 1.0 / row_sum)),
             Contains("its rescale exp(row_max - old_max) does not carry its weight exp(score - row_max) from old_max to row_max: at score"));
  CHECK_THAT(of(algebra(exp(2 * (score - row_max)), exp(old_max - row_max), 1.0 / row_sum)), Contains("does not carry its weight"));
  CHECK_THAT(of(algebra(max(score, 0.0), 2, 1.0 / row_sum)), Contains("where the weight does not know row_max, rescale is 1"));
  CHECK_THAT(of(algebra(1.0 / score, 1, 1)), Contains("its weight 1.0 / score is inf at score 0"));
}

TEST_CASE("an algebra's parts use only what they can know") {
  Graph g = graph_of([] { return softmax(any_scores()); });
  Node& reduction = at(g, Op::reduce_rows);
  SECTION("weight") { reduction.in[1] = reduction.in[3]; }
  SECTION("rescale") { reduction.in[2] = reduction.in[1]; }
  SECTION("scale") { reduction.in[3] = reduction.in[2]; }
  CHECK_THROWS_WITH(verify(g), Contains("which uses what it can not know"));
}

TEST_CASE("a row's value is held to the rules of its reduction") {
  constexpr auto masked = [] { return mask(any_scores(), kv_index <= q_index); };
  CHECK(complaint_of([=] { return logsumexp(masked()); }) == "nothing");
  CHECK_THAT(complaint_of([=] { return row_value(any_scores(), algebra(exp(score - row_max), 1, 1), row_sum); }), Contains("knows row_max, but its rescale is 1"));
  CHECK_THAT(complaint_of([=] { return row_value(tanh(masked()), softmax_algebra, row_sum); }), Contains("they reach this reduction as -1 and would weigh"));
  Graph g = graph_of([] { return logsumexp(any_scores()); });
  at(g, Op::row_value).in[3] = at(g, Op::row_value).in[1];
  CHECK_THROWS_WITH(verify(g), Contains("its value is exp(score - row_max), which uses what it can not know; it takes row_sum, row_max and where the row is"));
  g = graph_of([] { return unsqueeze<0>(logsumexp(any_scores())); });
  at(g, Op::unsqueeze).attr.count = 4;
  CHECK_THROWS_WITH(verify(g), Contains("the new dim would stand at 4, but the last place is 3"));
}

TEST_CASE("features lie inside of what they are of") {
  Graph g = graph_of([] { return features<1, 2>(input<2, 3>("x")); });
  at(g, Op::features).attr.from = 2;
  CHECK_THROWS_WITH(verify(g), Contains("the features would reach to 4, but there are 3"));
}

TEST_CASE("what a mask removes must weigh 0") {
  constexpr auto masked = [] { return mask(any_scores(), kv_index <= q_index); };
  SECTION("legal") {
    CHECK(complaint_of([=] { return matmul(softmax(masked()), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(masked() * 2.0 + kv_index - input<1, 1, 4, 4>("bias")), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(mask(50 * tanh(any_scores() / 50), kv_index <= q_index)), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(mask(masked(), q_index < 3 || kv_index < 2)), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(min(masked(), 30)), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(exp(masked()), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(masked()) * 0.5, any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return matmul(softmax(masked()) * input<4, 4>("kept") / input<1>("rate"), any_values()); }) == "nothing");  // no weight, whatever the factor
    CHECK(complaint_of([=] { return matmul(softmax(masked()) - 0.8 * softmax(masked() * 2.0), any_values()); }) == "nothing");  // one mask: 0 - 0
    CHECK(complaint_of([=] { return matmul(row_reduction(masked(), algebra(max(score, 0.0), 1, 1.0 / row_sum)), any_values()); }) == "nothing");
    CHECK(complaint_of([=] { return row_reduction(any_scores(), algebra(1, 1, 1.0 / row_sum)); }) == "nothing");  // nothing is removed
    CHECK(complaint_of([=] { return tanh(masked()); }) == "nothing");                                             // an output, not a weight
  }
  SECTION("a function of masked scores") {
    const std::string message = complaint_of([=] { return matmul(softmax(tanh(masked())), any_values()); });
    CHECK_THAT(message, Contains("mask(%3, kv_index <= q_index) (%7, line ") && Contains(") gives removed pairs the score -inf, but tanh(%7) (%8, line ") &&
                            Contains("makes -1 of it; they reach this reduction as -1 and would weigh 1 instead of 0; apply the mask last"));
  }
  SECTION("other ways to lose -inf") {
    for (const std::string& message : {complaint_of([=] { return softmax(masked() * -1.0); }), complaint_of([=] { return softmax(max(masked(), -100)); }),
                                       complaint_of([=] { return softmax(masked() * input<4>("factor")); }), complaint_of([=] { return softmax(softmax(masked())); }),
                                       complaint_of([=] { return softmax(masked() * (q_index - kv_index)); }), complaint_of([=] { return softmax(1 / masked()); })}) {
      CHECK_THAT(message, Contains("gives removed pairs the score -inf") && Contains("instead of 0; apply the mask last"));
    }
  }
  SECTION("a sum of weights of two masks") {
    CHECK_THAT(complaint_of([=] { return matmul(softmax(masked()) - softmax(mask(any_scores(), kv_index < 2)), any_values()); }), Contains("must weigh 0"));
    CHECK_THAT(complaint_of([=] { return softmax(masked() - masked() * 2.0); }), Contains("they reach this reduction as"));
  }
  SECTION("a weight that is not 0 at -inf") {
    CHECK_THAT(complaint_of([=] { return row_reduction(masked(), algebra(1, 1, 1.0 / row_sum)); }),
               Contains("they reach this reduction as -inf and would weigh 1 instead of 0; choose a weight that is 0 at -inf"));
    CHECK_THAT(complaint_of([=] { return row_reduction(masked(), algebra(score, 1, 1)); }), Contains("would weigh -inf instead of 0"));
  }
  SECTION("a product with values") {
    CHECK_THAT(complaint_of([=] { return matmul(masked(), any_values()); }), Contains("they reach this product as -inf, but must weigh 0; reduce the rows"));
    CHECK_THAT(complaint_of([=] { return matmul(softmax(masked()) + 1.0, any_values()); }), Contains("they reach this product as 1, but must weigh 0"));
  }
  SECTION("a constant bias of -inf") {
    CHECK(complaint_of([=] { return softmax(any_scores() - double(reference::infinity)); }) == "nothing");
    CHECK_THAT(complaint_of([=] { return softmax(tanh(any_scores() - double(reference::infinity))); }), Contains("apply the mask last"));
  }
}
