// Nothing is canned: specs that no file of the compiler mentions lower to one stream each and agree
// with the interpreter.
#include <catch2/catch.hpp>
#include <algorithm>
#include <variant>

#include "graph/interpret.h"
#include "numerics/subject.h"
#include "passes/fuse.h"

using namespace attune;
using namespace numerics;

namespace {

template <long Heads, long Seq, long HeadDim>
constexpr auto inputs = [] {
  struct {
    tensor<1, Heads, Seq, HeadDim> q, k, v;
  } x{input<1, Heads, Seq, HeadDim>("q"), input<1, Heads, Seq, HeadDim>("k"), input<1, Heads, Seq, HeadDim>("v")};
  return x;
};

constexpr auto window_with_softcap = [] {
  auto x = inputs<2, 300, 24>();
  auto s = matmul(x.q, transpose(x.k)) / sqrt_of<24>;
  return matmul(softmax(mask(20 * tanh(s / 20), kv_index <= q_index && q_index - kv_index < 100)), x.v);
};

constexpr auto tilted = [] {
  auto x = inputs<2, 70, 16>();
  return matmul(softmax(matmul(x.q, transpose(x.k)) + 0.1 * (kv_index - q_index)), x.v);
};

constexpr auto block_diagonal = [] {
  auto x = inputs<2, 130, 32>();
  return matmul(softmax(mask(matmul(x.q, transpose(x.k)), q_index / 40 == kv_index / 40)), x.v);
};

constexpr auto two_masks = [] {
  auto x = inputs<2, 65, 16>();
  auto s = matmul(x.q, transpose(x.k)) * 0.3;
  auto near = matmul(softmax(mask(s, q_index - kv_index < 9 && kv_index - q_index < 9)), x.v);
  auto past = matmul(softmax(mask(s, (q_index - kv_index) % 3 == 0 || kv_index < 2)), x.v);
  return outputs("near_out"_out = near, "past_out"_out = past);
};

constexpr auto bare_block = [] {
  auto x = input<2, 33, 40>("x");
  auto q = split_heads<5>(linear<40>(x, "wq", "bq"));
  auto k = split_heads<5>(linear<40>(x, "wk"));
  auto v = split_heads<5>(linear<40>(x, "wv", "bv"));
  return merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<8>, kv_index <= q_index)), v));
};

// Weighs by the square of what is above a threshold: no such reduction is known to the compiler.
constexpr auto own_reduction = [] {
  constexpr auto above = max(score - 0.25, 0.0);
  auto x = inputs<2, 47, 16>();
  auto s = mask(matmul(x.q, transpose(x.k)), kv_index <= q_index);
  return matmul(row_reduction(s, algebra(above * above, 1.0, 1.0 / (row_sum + 0.5))), x.v);
};

long streams_of(const Graph& g) {
  Program p = fuse(g);
  return std::count_if(p.regions.begin(), p.regions.end(), [](const Region& r) { return std::holds_alternative<Stream>(r.work); });
}

}  // namespace

TEST_CASE("Specs that the compiler has never seen stream and agree with the interpreter", "[passes]") {
  const std::vector<Spec> specs{spec("window_with_softcap", window_with_softcap), spec("tilted", tilted),         spec("block_diagonal", block_diagonal),
                                spec("two_masks", two_masks),                     spec("bare_block", bare_block), spec("own_reduction", own_reduction)};
  for (const Spec& s : specs) {
    INFO(s.name);
    CHECK(streams_of(s.graph) == long(s.graph.outputs.size()));  // one an output: nothing fell back to plain loops
  }
  for_each_subject(specs, [](const Subject& s) {
    const Bindings b = host::standard_inputs(s.interface());
    check_close(s, s(b), interpret_outputs(s.graph(), b));
  });
}
