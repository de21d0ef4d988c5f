// The shape of every op's result, as a type.
#include <attune.h>

#include <catch2/catch.hpp>

using namespace attune;

namespace {

template <class Wanted>
constexpr bool is(const auto& x) { return std::is_same_v<std::remove_cvref_t<decltype(x)>, Wanted>; }

constexpr auto heads = [] { return input<2, 8, 32, 64>("q"); };
constexpr auto few_heads = [] { return input<2, 2, 48, 64>("k"); };
constexpr auto rows = [] { return input<2, 32, 512>("x"); };
constexpr auto product = [] { return matmul(heads(), transpose(repeat_heads<4>(few_heads()))); };

static_assert(is<tensor<2, 8, 32, 64>>(heads()));
static_assert(is<tensor<7>>(input<7>("bias")));
static_assert(is<tensor<2, 32, 96>>(linear<96>(rows(), "w")));
static_assert(is<tensor<2, 32, 96>>(linear<96>(rows(), "w", "b")));
static_assert(is<tensor<3, 5>>(linear<5>(input<3, 4>("x"), "w")));
static_assert(is<tensor<2, 8, 32, 64>>(split_heads<8>(rows())));
static_assert(is<tensor<2, 1, 32, 512>>(split_heads<1>(rows())));
static_assert(is<tensor<2, 32, 512>>(merge_heads(heads())));
static_assert(is<tensor<2, 8, 48, 64>>(repeat_heads<4>(few_heads())));
static_assert(is<tensor<2, 8, 64, 32>>(transpose(heads())));
static_assert(is<tensor<4, 3>>(transpose(input<3, 4>("x"))));
static_assert(is<tensor<2, 8, 32, 64>>(rope(heads())));
static_assert(is<tensor<2, 8, 32, 63>>(rope(input<2, 8, 32, 63>("q"), {.base = 500000, .pairs = half_split, .dims = 62, .offset = 3})));

// The product of two tensors is scores; scores stay scores until they weigh something.
static_assert(is<scores<2, 8, 32, 48>>(product()));
static_assert(is<scores<2, 8, 32, 48>>(mask(product(), kv_index <= q_index)));
static_assert(is<scores<2, 8, 32, 48>>(softmax(product())));
static_assert(is<tensor<2, 8, 32, 24>>(matmul(softmax(product()), input<2, 8, 48, 24>("v"))));
static_assert(is<tensor<2, 8, 48, 32>>(transpose(product())));

// A number a row, and what makes it broadcast along features.
static_assert(is<tensor<2, 8, 32>>(logsumexp(product())));
static_assert(is<tensor<2, 8, 32>>(row_value(mask(product(), kv_index <= q_index), softmax_algebra, row_sum * 2 + head_index)));
static_assert(is<tensor<2, 8, 32, 1>>(unsqueeze<-1>(logsumexp(product()))));
static_assert(is<tensor<1, 3, 4>>(unsqueeze<0>(input<3, 4>("x"))));
static_assert(is<tensor<3, 1, 4>>(unsqueeze<1>(input<3, 4>("x"))));
static_assert(is<tensor<3, 1, 4>>(unsqueeze<-2>(input<3, 4>("x"))));
static_assert(is<tensor<2, 8, 32, 64>>(unsqueeze<-1>(logsumexp(product())) * heads()));
static_assert(is<tensor<2, 8, 32, 24>>(features<40, 24>(heads())));
static_assert(is<tensor<1>>(features<2, 1>(input<3>("x"))));
static_assert(is<tensor<2, 8, 32, 64>>(merge_by_lse(heads(), logsumexp(product()), heads(), logsumexp(product())).values));
static_assert(is<tensor<2, 8, 32>>(merge_by_lse(heads(), logsumexp(product()), heads(), logsumexp(product())).lse));

// Elementwise, by numpy's broadcasting: equal extents or 1, aligned at the last dim.
static_assert(is<scores<2, 8, 32, 48>>(product() / 8.0));
static_assert(is<scores<2, 8, 32, 48>>(3 - product()));
static_assert(is<scores<2, 8, 32, 48>>(-tanh(exp(product()))));
static_assert(is<scores<2, 8, 32, 48>>(product() + head_index * (kv_index - q_index)));
static_assert(is<scores<2, 8, 32, 48>>(product() + input<2, 1, 32, 48>("bias")));
static_assert(is<scores<2, 8, 32, 48>>(input<48>("bias") * product()));
static_assert(is<scores<2, 8, 32, 48>>(max(product(), 0)));
static_assert(is<scores<2, 8, 32, 48>>(min(product(), product())));
static_assert(is<tensor<2, 8, 32, 64>>(heads() + input<8, 1, 64>("b")));
static_assert(is<tensor<5, 4, 3>>(input<4, 1>("a") - input<5, 1, 3>("b")));
static_assert(is<tensor<2, 8, 32, 64>>(heads() * 2));
// Scores that grow are scores no more: they have no one coordinate left.
static_assert(is<tensor<2, 8, 32, 48>>(matmul(input<1, 8, 32, 4>("a"), input<1, 8, 4, 48>("b")) + input<2, 1, 1, 1>("c")));

// A length of 0 and a batch of 0 are shapes like any other.
static_assert(is<scores<0, 1, 0, 0>>(matmul(input<0, 1, 0, 4>("q"), transpose(input<0, 1, 0, 4>("k")))));
static_assert(is<tensor<1, 2, 5, 4>>(matmul(softmax(matmul(input<1, 2, 5, 4>("q"), input<1, 2, 4, 0>("k"))), input<1, 2, 0, 4>("v"))));

// Compound assignment keeps the type.
constexpr auto residual = [] {
  auto x = rows();
  x += linear<512>(x, "w");
  x *= 2;
  x -= 1;
  x /= 3.0;
  return x;
};
static_assert(is<tensor<2, 32, 512>>(residual()));

}  // namespace

TEST_CASE("the node of an op has the shape of its type") {
  const Graph g = graph_of([] { return matmul(softmax(product()), input<2, 8, 48, 24>("v")); });
  CHECK(g[g.outputs[0].node].type == tensor<2, 8, 32, 24>::type);
  for (const Node& n : g.nodes) {
    if (n.op == Op::reduce_rows) CHECK(n.type == scores<2, 8, 32, 48>::type);
    if (n.op == Op::repeat_heads) CHECK((n.attr.count == 4 && n.type == tensor<2, 8, 48, 64>::type));
    if (n.op == Op::transpose) CHECK(n.type == tensor<2, 8, 64, 48>::type);
  }
}

TEST_CASE("weights have the shapes of torch.nn.Linear") {
  const Graph g = graph_of([] { return linear<96>(rows(), "w", "b"); });
  REQUIRE(g.size() == 4);
  const Node& n = g[g.outputs[0].node];
  REQUIRE(n.op == Op::linear);
  REQUIRE(n.operands() == 3);
  CHECK(g[n.in[0]].attr.name == "x");
  CHECK(g[n.in[1]].attr.name == "w");
  CHECK(g[n.in[1]].op == Op::weight);
  CHECK(g[n.in[1]].type == tensor<96, 512>::type);
  CHECK(g[n.in[2]].attr.name == "b");
  CHECK(g[n.in[2]].type == tensor<96>::type);
}

TEST_CASE("rope keeps what it was asked for") {
  const Graph g = graph_of([] { return rope(heads(), {.base = 500000, .pairs = half_split, .dims = 32, .offset = 7}); });
  const Node& n = g[g.outputs[0].node];
  CHECK(n.attr.rotation == PairRotation{Pairs::half_split, 32, 1});
  CHECK(g[n.in[1]].op == Op::exp);  // of a multiple of log(500000)
  CHECK(std::any_of(g.nodes.begin(), g.nodes.end(), [](const Node& c) { return c.op == Op::constant && c.attr.value == 500000; }));
  CHECK(g[g[n.in[2]].in[0]].op == Op::seq_index);
  CHECK(g[g[n.in[2]].in[1]].attr.count == 7);
  const Graph plain = graph_of([] { return rope(heads()); });
  CHECK(plain[plain.outputs[0].node].attr.rotation == PairRotation{});
}
