// A spec compiles after the headers and using-directives that clash with its names most.
#include <math.h>

#include <algorithm>
#include <cmath>
#include <complex>
#include <functional>
#include <numeric>
#include <tuple>
#include <valarray>
#include <vector>
using namespace std;
#include <attune.h>

#include <catch2/catch.hpp>
using namespace attune;

namespace {

constexpr auto keep = min(kv_index, q_index) <= max(q_index, q_index) && max(kv_index, 1L) + exp(-0.5 * min(3, kv_index)) > tanh(kv_index);

template <size_t T, unsigned Heads>
constexpr auto spec = [] {
  auto q = input<1, Heads, T, 16>("q");
  auto k = input<1, Heads, T, 16>("k");
  auto s = matmul(q, transpose(k)) / sqrt_of<16>;
  s = 50 * tanh(s / 50) + exp(-s);
  s = max(s, min(s, 3)) + min(max(s, s), s) + max(1.5f, s);
  s = mask(s, keep && kv_index < T && head_index % int(Heads) == 0);
  return softmax(s);
};
static_assert(graph_of(spec<16, 2>).outputs.size() == 1);

}  // namespace

TEST_CASE("the names of the language stand beside those of std") {
  int nodes[10] = {};
  const Graph g = graph_of(spec<16, 2>);
  for (const Node& n : g.nodes) {
    if (n.op == Op::tanh) ++nodes[n.type.kind == Kind::scores];
    if (n.op == Op::exp) ++nodes[n.type.kind == Kind::scores ? 3 : 2];
    if (n.op == Op::min || n.op == Op::max) ++nodes[n.type.kind == Kind::scores ? 5 : 4];
  }
  CHECK(nodes[0] == 1);  // tanh(kv_index)
  CHECK(nodes[1] == 1);  // tanh(s / 50)
  CHECK(nodes[2] == 3);  // exp in keep, and in the weight and the rescale of softmax
  CHECK(nodes[3] == 1);  // exp(-s)
  CHECK(nodes[4] == 4);  // min and max in keep
  CHECK(nodes[5] == 5);  // of scores
}
