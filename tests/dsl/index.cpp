// Index expressions: their kinds, the nodes that they become, and that literals and names are
// ordinary C++.
#include <attune.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <string>

using namespace attune;

namespace {

template <class E>
constexpr Kind kind(const E&) { return E::kind; }

static_assert(kind(kv_index) == Kind::integer);
static_assert(kind(kv_index + 1) == Kind::integer);
static_assert(kind(1.0 * kv_index) == Kind::real);
static_assert(kind(kv_index * 0.5f) == Kind::real);
static_assert(kind(kv_index / 2) == Kind::integer);
static_assert(kind(kv_index / 2.0) == Kind::real);
static_assert(kind(2.0 / kv_index) == Kind::real);
static_assert(kind(kv_index % 2) == Kind::integer);
static_assert(kind(min(kv_index, 3)) == Kind::integer);
static_assert(kind(max(2.5, kv_index)) == Kind::real);
static_assert(kind(min(q_index, q_index)) == Kind::integer);
static_assert(kind(exp(head_index)) == Kind::real);
static_assert(kind(tanh(0.1 * batch_index)) == Kind::real);
static_assert(kind(-q_index) == Kind::integer);
static_assert(kind(kv_index <= q_index) == Kind::predicate);
static_assert(kind(3 > kv_index) == Kind::predicate);
static_assert(kind(kv_index != q_index || !(kv_index == 0)) == Kind::predicate);
static_assert(kind(0.5 * kv_index >= q_index) == Kind::predicate);

constexpr auto causal = kv_index <= q_index;
template <long Width>
constexpr auto window = causal&& q_index - kv_index < Width;
constexpr auto sinks(int n) { return kv_index < n; }

// `e` folded and written as an s-expression, so that a test can say all of it at once.
std::string text(const Graph& g, int id) {
  const Node& n = g[id];
  switch (n.op) {
    case Op::constant:
      return n.type.kind == Kind::real ? std::to_string(n.attr.value).substr(0, 4) : std::to_string(n.attr.count);
    case Op::batch_index:
      return "b";
    case Op::head_index:
      return "h";
    case Op::q_index:
      return "q";
    case Op::kv_index:
      return "k";
    case Op::input:
      return std::string(n.attr.name);
    default:
      break;
  }
  const char* const names[] = {"+", "-", "*", "/", "%", "min", "max", "tanh", "exp", "log", "<", "<=", "==", "and", "or", "not"};
  std::string s = n.op == Op::mask ? "(mask" : n.op == Op::matmul ? "(matmul"
                                                                  : std::string("(") + names[int(n.op) - int(Op::add)];
  for (int i = 0; i < n.operands(); ++i) s += " " + text(g, n.in[std::size_t(i)]);
  return s + ")";
}
std::string text(const auto& e) {
  const Graph g = graph_of([&] { return matmul(input<1, 1, 2, 2>("a"), input<1, 1, 2, 2>("b")) + e; });
  return text(g, g[g.outputs[0].node].in[1]);
}
std::string masked(const auto& e) {
  const Graph g = graph_of([&] { return mask(matmul(input<1, 1, 2, 2>("a"), input<1, 1, 2, 2>("b")), e); });
  return text(g, g[g.outputs[0].node].in[1]);
}

}  // namespace

TEST_CASE("an index expression becomes the nodes that it reads as") {
  CHECK(text(kv_index - q_index) == "(- k q)");
  CHECK(text(2 * kv_index + q_index / 3 % 4) == "(+ (* 2 k) (% (/ q 3) 4))");
  CHECK(text(-kv_index) == "(- 0 k)");
  CHECK(text(exp(-0.5 * (head_index + 1)) * (kv_index - q_index)) == "(* (exp (* -0.5 (+ h 1))) (- k q))");
  CHECK(text(min(kv_index, 3) + max(1.25, tanh(batch_index))) == "(+ (min k 3) (max 1.25 (tanh b)))");
  CHECK(text(7) == "7");
  CHECK(text(0.25f) == "0.25");
  CHECK(text('\2' + true * q_index) == "(+ 2 (* 1 q))");
}

TEST_CASE("comparisons are < and <= with their sides in order, == and not") {
  CHECK(masked(kv_index < q_index) == "(< k q)");
  CHECK(masked(kv_index <= 3) == "(<= k 3)");
  CHECK(masked(kv_index > q_index) == "(< q k)");
  CHECK(masked(3 >= kv_index) == "(<= k 3)");
  CHECK(masked(kv_index == q_index) == "(== k q)");
  CHECK(masked(3 == kv_index) == "(== 3 k)");
  CHECK(masked(kv_index != 3) == "(not (== k 3))");
  CHECK(masked(!(kv_index < 3) && (q_index < 4 || head_index == 0)) == "(and (not (< k 3)) (or (< q 4) (== h 0)))");
}

TEST_CASE("a predicate can be a constant, a template and a function") {
  CHECK(masked(causal) == "(<= k q)");
  CHECK(masked(window<8>) == "(and (<= k q) (< (- q k) 8))");
  int n = 4;
  CHECK(masked(window<8> || sinks(n)) == "(or (and (<= k q) (< (- q k) 8)) (< k 4))");
}

TEST_CASE("operands of an operator keep their sides, whichever is the tensor") {
  const auto sides = [](auto make) {
    const Graph g = graph_of([&] { return make(matmul(input<1, 1, 2, 2>("a"), input<1, 1, 2, 2>("b"))); });
    return text(g, g.outputs[0].node);
  };
  CHECK(sides([](auto s) { return s - 1; }) == "(- (matmul a b) 1)");
  CHECK(sides([](auto s) { return 1 - s; }) == "(- 1 (matmul a b))");
  CHECK(sides([](auto s) { return 2.0 / s; }) == "(/ 2.00 (matmul a b))");
  CHECK(sides([](auto s) { return kv_index * s; }) == "(* k (matmul a b))");
  CHECK(sides([](auto s) { return max(q_index, s); }) == "(max q (matmul a b))");
  CHECK(sides([](auto s) { return 50 * tanh(s / 50); }) == "(* 50 (tanh (/ (matmul a b) 50)))");
  CHECK(sides([](auto s) { return mask(s, causal); }) == "(mask (matmul a b) (<= k q))");
}

TEST_CASE("sqrt_of is the correctly rounded square root") {
  const auto all = []<long... N>(std::integer_sequence<long, N...>) { return std::vector<double>{sqrt_of<N>...}; }
  (std::make_integer_sequence<long, 300>{});
  for (std::size_t n = 0; n < all.size(); ++n) CHECK(all[n] == std::sqrt(double(n)));
  CHECK(sqrt_of<1000003> == std::sqrt(1000003.0));
  CHECK(sqrt_of<(1L << 53) - 1> == std::sqrt(9007199254740991.0));
  CHECK(sqrt_of<4000000000000000000> == 2e9);
  static_assert(sqrt_of<64> == 8 && sqrt_of<0> == 0 && sqrt_of<1> == 1);
}
