#include "passes/predicate.h"
#include <catch2/catch.hpp>
#include <limits>
#include <random>
#include "predicates.h"

using namespace attune;
using attune::test::patterns;
using attune::test::PredicateCase;

namespace {

constexpr long batches = 2, heads = 3;

struct Coordinates {
  long batch, head, q, kv;
};

template <class F>
void for_scores(const Block& b, F f) {
  for (long batch = b.batch0; batch < b.batch1; ++batch)
    for (long head = b.head0; head < b.head1; ++head)
      for (long q = b.q0; q < b.q1; ++q)
        for (long kv = b.kv0; kv < b.kv1; ++kv) f(Coordinates{batch, head, q, kv});
}

struct Counted {
  long kept = 0, scores = 0, first = -1, last = -1;
  Kept classify() const { return kept == 0 ? Kept::none : kept == scores ? Kept::all : Kept::mixed; }
};
template <class Keeps>
Counted count(const Block& b, const Keeps& keeps) {
  Counted c;
  for_scores(b, [&](Coordinates at) {
    ++c.scores;
    if (!keeps(at.batch, at.head, at.q, at.kv)) return;
    ++c.kept;
    if (c.first < 0 || at.kv < c.first) c.first = at.kv;
    c.last = std::max(c.last, at.kv);
  });
  return c;
}

std::string text(const Block& b) {
  return "batch " + std::to_string(b.batch0) + ".." + std::to_string(b.batch1) + " head " + std::to_string(b.head0) + ".." + std::to_string(b.head1) +
         " q " + std::to_string(b.q0) + ".." + std::to_string(b.q1) + " kv " + std::to_string(b.kv0) + ".." + std::to_string(b.kv1);
}

// Everything the analysis says of the block is so.
template <class Keeps>
void check_block(const IndexAnalysis& a, const Block& b, const Keeps& keeps) {
  const Counted c = count(b, keeps);
  INFO(text(b));
  const Kept bounds = a.classify(b);
  if (bounds != Kept::mixed) CHECK(bounds == c.classify());
  CHECK(a.classify_exact(b) == c.classify());
  CHECK(a.count_kept(b) == c.kept);
  CHECK(a.first_kept(b) == c.first);
  CHECK(a.last_kept(b) == c.last);
}

std::vector<Block> blocks_of(long q_len, long kv_len, long q_step, long kv_step) {
  std::vector<Block> r;
  for (long q = 0; q < q_len; q += q_step)
    for (long kv = 0; kv < kv_len; kv += kv_step)
      r.push_back({0, batches, 0, heads, q, std::min(q + q_step, q_len), kv, std::min(kv + kv_step, kv_len)});
  return r;
}

Block random_block(std::mt19937& random, long q_len, long kv_len) {
  const auto range = [&](long n, long& begin, long& end) {
    begin = long(random() % std::uint32_t(n));
    end = begin + 1 + long(random() % std::uint32_t(n - begin));
  };
  Block b;
  range(batches, b.batch0, b.batch1);
  range(heads, b.head0, b.head1);
  range(q_len, b.q0, b.q1);
  range(kv_len, b.kv0, b.kv1);
  return b;
}

// What a node is worth at a score, by its definition.
double value_at(const Graph& g, int i, Coordinates c) {
  const Node& n = g[i];
  const double x = n.in[0] >= 0 ? value_at(g, n.in[0], c) : 0, y = n.in[1] >= 0 ? value_at(g, n.in[1], c) : 0;
  const bool nan = std::isnan(x) || std::isnan(y);
  switch (n.op) {
    case Op::constant: return n.type.kind == Kind::real ? n.attr.value : double(n.attr.count);
    case Op::batch_index: return double(c.batch);
    case Op::head_index: return double(c.head);
    case Op::q_index: return double(c.q);
    case Op::kv_index: return double(c.kv);
    case Op::add: return x + y;
    case Op::sub: return x - y;
    case Op::mul: return x * y;
    case Op::div: return n.type.kind == Kind::integer ? std::floor(x / y) : x / y;
    case Op::mod: return x - y * std::floor(x / y);
    case Op::min: return nan ? x + y : std::min(x, y);
    case Op::max: return nan ? x + y : std::max(x, y);
    case Op::exp: return std::exp(x);
    case Op::tanh: return std::tanh(x);
    case Op::lt: return x < y;
    case Op::le: return x <= y;
    case Op::eq: return x == y;
    case Op::both: return x != 0 && y != 0;
    case Op::either: return x != 0 || y != 0;
    case Op::negation: return x == 0;
    default: throw std::logic_error("no index expression");
  }
}

// A random expression of `kind`, as the last node of the graph.
class RandomExpression {
  std::mt19937& random_;
  Graph& g_;

  int pick(int n) { return int(random_() % std::uint32_t(n)); }
  int add(Node n) {
    for (int i = 0; i < int(g_.size()); ++i)
      if (g_[i].same(n)) return i;
    g_.nodes.push_back(n);
    return int(g_.size()) - 1;
  }
  int node(Op op, Kind k, int x = -1, int y = -1) { return add({op, {k, {}}, {}, operand_list({x, y}), 0}); }
  int constant(long v) {
    Attr at;
    at.count = v;
    return add({Op::constant, {Kind::integer, {}}, at, operand_list({}), 0});
  }
  int constant(double v) {
    Attr at;
    at.value = v;
    return add({Op::constant, {Kind::real, {}}, at, operand_list({}), 0});
  }

 public:
  RandomExpression(std::mt19937& random, Graph& g) : random_(random), g_(g) {}

  int integer(int depth) {
    constexpr Op leaves[]{Op::q_index, Op::kv_index, Op::q_index, Op::kv_index, Op::head_index, Op::batch_index};
    if (depth == 0) return pick(4) == 0 ? constant(long(pick(20) - 5)) : node(leaves[pick(6)], Kind::integer);
    const int x = integer(depth - 1), c = pick(8);
    if (c == 0) return node(Op::div, Kind::integer, x, constant(long(1 + pick(9))));
    if (c == 1) return node(Op::mod, Kind::integer, x, constant(long(1 + pick(9))));
    const int y = integer(depth - 1);
    constexpr Op ops[]{Op::add, Op::sub, Op::sub, Op::mul, Op::min, Op::max};
    return node(ops[c - 2], Kind::integer, x, y);
  }
  int real(int depth) {
    if (depth == 0) return constant(0.25 * (pick(20) - 8));
    const int x = pick(2) ? real(depth - 1) : integer(depth - 1), c = pick(8);
    if (c == 0) return node(Op::exp, Kind::real, x);
    if (c == 1) return node(Op::tanh, Kind::real, x);
    constexpr Op ops[]{Op::add, Op::sub, Op::mul, Op::div, Op::min, Op::max};
    const int y = pick(3) ? real(depth - 1) : integer(depth - 1);
    return node(ops[c - 2], Kind::real, x, y);
  }
  int predicate(int depth) {
    if (depth > 0) {
      const int x = predicate(depth - 1), c = pick(4);
      if (c == 0) return node(Op::negation, Kind::predicate, x);
      if (c < 3) return node(c == 1 ? Op::both : Op::either, Kind::predicate, x, predicate(depth - 1));
    }
    const bool reals = pick(4) == 0;
    const int x = integer(1 + pick(2)), y = reals ? real(1 + pick(2)) : integer(pick(3));
    constexpr Op ops[]{Op::lt, Op::le, Op::eq};
    return node(ops[pick(3)], Kind::predicate, x, y);
  }
};

}  // namespace

TEST_CASE("The analysis of a predicate agrees with counting its scores", "[passes][predicate]") {
  constexpr long q_len = 37, kv_len = 53;
  for (const PredicateCase& p : patterns(1)) {
    INFO(p.name);
    const IndexAnalysis a(p.graph, p.node, batches, heads);
    long wrong = 0;
    for_scores({0, batches, 0, heads, 0, q_len, 0, kv_len}, [&](Coordinates c) { wrong += a.at(c.batch, c.head, c.q, c.kv) != p.keeps(c.batch, c.head, c.q, c.kv); });
    CHECK(wrong == 0);
    for (auto [q_step, kv_step] : {std::pair<long, long>{1, 1}, {3, 5}, {8, 8}, {16, 7}, {1, kv_len}, {q_len, 1}, {q_len, kv_len}})
      for (const Block& b : blocks_of(q_len, kv_len, q_step, kv_step)) check_block(a, b, p.keeps);
    std::mt19937 random(Catch::rngSeed());
    for (int i = 0; i < 50; ++i) check_block(a, random_block(random, q_len, kv_len), p.keeps);
  }
}

TEST_CASE("The analysis agrees with counting on blocks wider than a row of lanes", "[passes][predicate]") {
  for (const PredicateCase& p : patterns(8)) {
    INFO(p.name);
    const IndexAnalysis a(p.graph, p.node, 1, 1);
    for (const Block& b : {Block{0, 1, 0, 1, 0, 150, 0, 333}, Block{0, 1, 0, 1, 77, 140, 65, 270}, Block{0, 1, 0, 1, 100, 101, 3, 300}}) check_block(a, b, p.keeps);
  }
}

TEST_CASE("What only decided sub-blocks show makes a block mixed", "[passes][predicate]") {
  const Graph one = test::masked(kv_index / 64 == 1), others = test::masked(kv_index / 64 != 1);
  for (const Graph* g : {&one, &others}) {
    const IndexAnalysis a(*g, test::predicate_of(*g), 1, 1);
    CHECK(a.classify_exact({0, 1, 0, 1, 0, 100, 0, 256}) == Kept::mixed);  // halves at 128 and 64: none of them mixed
    CHECK(a.classify_exact({0, 1, 0, 1, 0, 100, 64, 128}) == (g == &one ? Kept::all : Kept::none));
  }
}

TEST_CASE("An empty block keeps nothing", "[passes][predicate]") {
  const Graph g = test::masked(kv_index >= 0);
  const IndexAnalysis a(g, test::predicate_of(g), 1, 1);
  for (const Block& b : {Block{0, 1, 0, 1, 3, 3, 0, 8}, Block{0, 1, 0, 1, 0, 8, 5, 5}, Block{0, 0, 0, 1, 0, 8, 0, 8}}) {
    CHECK(a.classify(b) == Kept::none);
    CHECK(a.classify_exact(b) == Kept::none);
    CHECK(a.first_kept(b) == -1);
    CHECK(a.last_kept(b) == -1);
    CHECK(a.count_kept(b) == 0);
  }
}

TEST_CASE("Random expressions: bounds contain every value, exact answers are exact", "[passes][predicate]") {
  constexpr long q_len = 11, kv_len = 13;
  const unsigned first_seed = Catch::rngSeed() * 1000003u;
  for (unsigned seed = first_seed; seed < first_seed + 400; ++seed) {
    INFO("seed " << seed << ", of --rng-seed " << Catch::rngSeed());
    std::mt19937 random(seed);
    Graph g;
    const int root = RandomExpression(random, g).predicate(2);
    const IndexAnalysis a(g, root, batches, heads);
    const auto keeps = [&](long batch, long head, long q, long kv) { return value_at(g, root, {batch, head, q, kv}) != 0; };
    long wrong = 0;
    for_scores({0, batches, 0, heads, 0, q_len, 0, kv_len}, [&](Coordinates c) { wrong += a.at(c.batch, c.head, c.q, c.kv) != keeps(c.batch, c.head, c.q, c.kv); });
    CHECK(wrong == 0);
    for (int i = 0; i < 8; ++i) {
      const Block b = random_block(random, q_len, kv_len);
      check_block(a, b, keeps);
      const int node = int(random() % std::uint32_t(g.size()));
      INFO(text(b) << ", node " << node);
      const IndexInterval r = IndexAnalysis(g, node, batches, heads).interval(b);
      long outside = 0;
      for_scores(b, [&](Coordinates c) {
        const double v = value_at(g, node, c);
        outside += !(std::isnan(v) ? std::isinf(r.lo) && std::isinf(r.hi) : v >= r.lo && v <= r.hi);
      });
      CHECK(outside == 0);
    }
  }
}

TEST_CASE("Bounds alone decide what they should", "[passes][predicate]") {
  const auto classify = [](auto predicate, const Block& b) {
    const Graph g = test::masked(predicate);
    return IndexAnalysis(g, test::predicate_of(g), 1, 1).classify(b);
  };
  const Block below{0, 1, 0, 1, 64, 128, 0, 64}, diagonal{0, 1, 0, 1, 64, 128, 64, 128}, above{0, 1, 0, 1, 0, 64, 64, 128};
  CHECK(classify(kv_index <= q_index, below) == Kept::all);
  CHECK(classify(kv_index <= q_index, diagonal) == Kept::mixed);
  CHECK(classify(kv_index <= q_index, above) == Kept::none);
  CHECK(classify(kv_index <= q_index && q_index - kv_index < 128, below) == Kept::all);
  CHECK(classify(kv_index / 64 == q_index / 64, diagonal) == Kept::all);
  CHECK(classify(kv_index / 64 == q_index / 64, below) == Kept::none);
  CHECK(classify(q_index % 64 < 64, diagonal) == Kept::all);
  CHECK(classify(kv_index % 256 < 128, diagonal) == Kept::all);
  // An operand on both sides cancels.
  CHECK(classify(q_index - kv_index <= q_index, diagonal) == Kept::all);
  CHECK(classify(q_index / 7 + kv_index >= q_index / 7 + 64, diagonal) == Kept::all);
  CHECK(classify(q_index * 3 - q_index * 2 == q_index, diagonal) == Kept::all);
  CHECK(classify((q_index + 10) - q_index == 11, diagonal) == Kept::none);
}

TEST_CASE("Integer division and remainder floor below zero", "[passes][predicate]") {
  const auto interval = [](auto e, const Block& b) {
    const Graph g = test::masked(e == e + 0);
    return IndexAnalysis(g, g[test::predicate_of(g)].in[0], 1, 1).interval(b);
  };
  const Block b{0, 1, 0, 1, 0, 4, 0, 8};  // q - kv from -7 to 3
  CHECK(interval(q_index - kv_index, b) == IndexInterval{-7, 3});
  CHECK(interval((q_index - kv_index) / 4, b) == IndexInterval{-2, 0});
  CHECK(interval((q_index - kv_index) % 4, b) == IndexInterval{0, 3});
  CHECK(interval((q_index - 9) % 4, b) == IndexInterval{0, 3});        // -9..-6: 3, 0, 1, 2
  CHECK(interval((q_index - 8) % 4, b) == IndexInterval{0, 3});        // -8..-5: 0, 1, 2, 3
  CHECK(interval((q_index - 8) % 8, b) == IndexInterval{0, 3});
  CHECK(interval((q_index - 4) % 8, b) == IndexInterval{4, 7});        // one period: no more than its values
  CHECK(interval(min(q_index, 2) + max(kv_index, 5), b) == IndexInterval{5, 9});
}

TEST_CASE("fits_int32 looks at every integer sub-expression", "[passes][predicate]") {
  const auto fits = [](auto predicate, const Block& b) {
    const Graph g = test::masked(predicate);
    return IndexAnalysis(g, test::predicate_of(g), 1, 1).fits_int32(b);
  };
  const Block b{0, 1, 0, 1, 0, 4096, 0, 4096};
  CHECK(fits(kv_index <= q_index, b));
  CHECK(fits(q_index * 524288 > kv_index, b));         // 4095 * 2^19 < 2^31
  CHECK_FALSE(fits(q_index * 524417 > kv_index, b));   // 4095 * (2^19 + 129) >= 2^31
  CHECK(fits(q_index * -524288 - 524288 < kv_index, b));           // -2^31 itself
  CHECK_FALSE(fits(q_index * -524288 - 524289 < kv_index, b));     // one below
  CHECK_FALSE(fits(q_index * 524417 - q_index * 524417 == 0, b));  // what cancels later overflows first
  CHECK_FALSE(fits(q_index * (1L << 62) * (1L << 62) > 0, b));
  CHECK_FALSE(fits(kv_index < 2147483648L, b));
  CHECK(fits(kv_index < 2147483647L, b));
  CHECK(fits(kv_index * 1e12 < 1e15, b));  // reals aren't integers
  CHECK_FALSE(fits(kv_index <= q_index, {0, 1, 0, 1, 0, 1L << 32, 0, 4}));
}

TEST_CASE("depends_on tells the coordinates of an expression", "[passes][predicate]") {
  const auto depends = [](auto predicate) {
    const Graph g = test::masked(predicate);
    const IndexAnalysis a(g, test::predicate_of(g), 1, 1);
    return std::vector<bool>{a.depends_on(Op::batch_index), a.depends_on(Op::head_index), a.depends_on(Op::q_index), a.depends_on(Op::kv_index)};
  };
  CHECK(depends(kv_index <= q_index) == std::vector<bool>{false, false, true, true});
  CHECK(depends(kv_index < 8 * batch_index) == std::vector<bool>{true, false, false, true});
  CHECK(depends(head_index == 1) == std::vector<bool>{false, true, false, false});
}

TEST_CASE("What is no function of the coordinates is refused", "[passes][predicate]") {
  const Graph g = test::masked(kv_index <= q_index);
  CHECK_THROWS_AS(IndexAnalysis(g, g.outputs[0].node, 1, 1), std::invalid_argument);
  for (long divisor : {0L, -4L})  // which the language refuses already
    for (Graph by : {test::masked(kv_index / 7 == 0), test::masked(kv_index % 7 == 0)}) {
      for (Node& n : by.nodes)
        if (n.attr.count == 7) n.attr.count = divisor;
      CHECK_THROWS_AS(IndexAnalysis(by, test::predicate_of(by), 1, 1), std::invalid_argument);
    }
  const Graph state = graph_of([] { return softmax(matmul(input<1, 1, 4, 8>("q"), transpose(input<1, 1, 4, 8>("k")))); });
  CHECK_THROWS_AS(IndexAnalysis(state, state[state.outputs[0].node].in[1], 1, 1), std::invalid_argument);
}

// Tables are known at run time: none and all must hold whatever is in them, and what may count must be visited.
TEST_CASE("what is decided of a predicate holds for any table") {
  static constexpr auto document = table<int32, 90>("document");
  const Graph g = graph_of([] { return mask(matmul(input<2, 3, 90, 4>("q"), input<2, 3, 4, 90>("k")), kv_index <= q_index && (document(q_index) == document(kv_index) || kv_index < 3)); });
  const Node& masked = g[g.outputs[0].node];
  const IndexAnalysis a(g, masked.in[1], batches, heads);
  CHECK(a.reads_tables());
  std::mt19937 random(7);
  const auto range = [&](long& begin, long& end) {
    begin = long(random() % 90);
    end = std::min(90l, begin + 1 + long(random() % 40));
  };
  int seen[3] = {0, 0, 0};
  for (int round = 0; round < 500; ++round) {
    Block b{0, batches, 0, heads, 0, 0, 0, 0};
    range(b.q0, b.q1);
    if (round % 3 == 0) b.kv1 = 3;
    else range(b.kv0, b.kv1);
    const Counted perhaps = count(b, [](long, long, long q, long kv) { return kv <= q; }), surely = count(b, [](long, long, long q, long kv) { return kv <= q && kv < 3; });
    INFO(text(b));
    const Kept right = perhaps.kept == 0 ? Kept::none : surely.kept == surely.scores ? Kept::all : Kept::mixed;
    CHECK(a.classify_exact(b) == right);
    CHECK(a.first_kept(b) == perhaps.first);
    CHECK(a.last_kept(b) == perhaps.last);
    CHECK(a.count_kept(b) == perhaps.kept);
    ++seen[int(right)];
  }
  for (int n : seen) CHECK(n > 20);
}
