// Predicates to test the analysis with, each beside the same thing in plain arithmetic.
#pragma once
#include <attune.h>
#include <cmath>
#include <functional>
#include <string>
#include <vector>

namespace attune::test {

struct PredicateCase {
  std::string name;
  Graph graph;
  int node;
  std::function<bool(long batch, long head, long q, long kv)> keeps;
};

template <class E>
Graph masked(E predicate) {
  return graph_of([predicate] { return mask(matmul(input<2, 3, 4, 8>("q"), transpose(input<2, 3, 4, 8>("k"))), predicate); });
}

inline int predicate_of(const Graph& g) {
  for (const Node& n : g.nodes)
    if (n.op == Op::mask) return n.in[1];
  return -1;
}

template <class E, class F>
PredicateCase predicate_case(std::string name, E predicate, F keeps) {
  Graph g = masked(predicate);
  const int node = predicate_of(g);
  return {std::move(name), std::move(g), node, keeps};
}

// Patterns of the literature, with lengths proportional to s.
inline std::vector<PredicateCase> patterns(long s) {
  using std::abs;
  constexpr auto causal = kv_index <= q_index;
  const long row = 6 * s;  // of the two-dimensional grid
  std::vector<PredicateCase> r;
  const auto add = [&](std::string name, auto predicate, auto keeps) { r.push_back(predicate_case(std::move(name), predicate, keeps)); };
  add("causal", causal, [](long, long, long q, long k) { return k <= q; });
  add("bottom-right", kv_index <= q_index + 5 * s, [=](long, long, long q, long k) { return k <= q + 5 * s; });
  add("not causal", !causal, [](long, long, long q, long k) { return k > q; });
  add("window", causal && q_index - kv_index < 5 * s, [=](long, long, long q, long k) { return k <= q && q - k < 5 * s; });
  add("window of two sides", q_index - kv_index <= 3 * s && kv_index - q_index <= 4 * s, [=](long, long, long q, long k) { return q - k <= 3 * s && k - q <= 4 * s; });
  add("window by max", max(q_index - kv_index, kv_index - q_index) <= 3 * s, [=](long, long, long q, long k) { return abs(q - k) <= 3 * s; });
  add("window of 0", causal && q_index - kv_index < 0, [](long, long, long, long) { return false; });
  add("dilated", (q_index - kv_index) % 4 == 0, [](long, long, long q, long k) { return abs(q - k) % 4 == 0; });
  add("dilated window", causal && q_index - kv_index < 16 * s && (q_index - kv_index) % 4 == 0, [=](long, long, long q, long k) { return k <= q && q - k < 16 * s && (q - k) % 4 == 0; });
  add("chunked", causal && kv_index / (8 * s) == q_index / (8 * s), [=](long, long, long q, long k) { return k <= q && k / (8 * s) == q / (8 * s); });
  add("prefix", causal || kv_index < 6 * s, [=](long, long, long q, long k) { return k <= q || k < 6 * s; });
  add("global and window", kv_index < 4 * s || q_index < 2 * s || (q_index - kv_index <= 3 * s && kv_index - q_index <= 3 * s),
      [=](long, long, long q, long k) { return k < 4 * s || q < 2 * s || abs(q - k) <= 3 * s; });
  add("block-diagonal", kv_index / (7 * s) == q_index / (7 * s), [=](long, long, long q, long k) { return k / (7 * s) == q / (7 * s); });
  add("strided", causal && (q_index - kv_index < 6 * s || kv_index % (6 * s) == 6 * s - 1), [=](long, long, long q, long k) { return k <= q && (q - k < 6 * s || k % (6 * s) == 6 * s - 1); });
  add("A-shaped", causal && (q_index - kv_index < 5 * s || kv_index < 2), [=](long, long, long q, long k) { return k <= q && (q - k < 5 * s || k < 2); });
  add("neighbourhood", max(q_index / row - kv_index / row, kv_index / row - q_index / row) <= 1 && max(q_index % row - kv_index % row, kv_index % row - q_index % row) <= 2 * s,
      [=](long, long, long q, long k) { return abs(q / row - k / row) <= 1 && abs(q % row - k % row) <= 2 * s; });
  add("window by head", causal && q_index - kv_index < 4 * s * (head_index + 1), [=](long, long h, long q, long k) { return k <= q && q - k < 4 * s * (h + 1); });
  add("dilated by head", (kv_index + head_index) % 3 == 0, [](long, long h, long, long k) { return (k + h) % 3 == 0; });
  add("left padding by batch", causal && kv_index >= 3 * s * batch_index, [=](long b, long, long q, long k) { return k <= q && k >= 3 * s * b; });
  add("by batch and head", kv_index < 5 * s * (batch_index + 1) + head_index, [=](long b, long h, long, long k) { return k < 5 * s * (b + 1) + h; });
  add("head 1 alone", head_index == 1, [](long, long h, long, long) { return h == 1; });
  add("first rows", q_index < 9 * s, [=](long, long, long q, long) { return q < 9 * s; });
  add("empty", kv_index < 0, [](long, long, long, long) { return false; });
  add("empty, by two conditions", causal && kv_index > q_index, [](long, long, long, long) { return false; });
  add("empty, by parity", 2 * q_index == 2 * kv_index + 1, [](long, long, long, long) { return false; });
  add("full", kv_index >= 0, [](long, long, long, long) { return true; });
  add("full, by two conditions", causal || kv_index > q_index, [](long, long, long, long) { return true; });
  add("full, by residue", (q_index - kv_index) % 4 < 4, [](long, long, long, long) { return true; });
  add("shared terms", (q_index + 4 * s) - q_index > kv_index, [=](long, long, long, long k) { return k < 4 * s; });
  add("shared factor", 3 * kv_index - q_index - kv_index <= kv_index, [](long, long, long q, long k) { return k <= q; });
  add("half", 0.5 * q_index < kv_index, [](long, long, long q, long k) { return q < 2 * k; });
  add("decay", exp(-0.125 * (q_index - kv_index)) > 0.3, [](long, long, long q, long k) { return std::exp(-0.125 * double(q - k)) > 0.3; });
  add("tanh", tanh(0.0625 * (q_index - kv_index)) < 0.3, [](long, long, long q, long k) { return std::tanh(0.0625 * double(q - k)) < 0.3; });
  const auto nan = (1.0 * (q_index - kv_index)) / (q_index - kv_index);  // 1 elsewhere
  add("NaN on the diagonal", nan == 1.0, [](long, long, long q, long k) { return q != k; });
  add("NaN under min", min(nan, 3.0) <= 5, [](long, long, long q, long k) { return q != k; });
  add("NaN under max", max(nan, -3.0) >= -5, [](long, long, long q, long k) { return q != k; });
  add("NaN below a sum", tanh(nan) + 1.0 < 5, [](long, long, long q, long k) { return q != k; });
  add("a pole", 1.0 / (q_index - kv_index) < 0.4, [](long, long, long q, long k) { return q < k || q - k >= 3; });
  return r;
}

}  // namespace attune::test
