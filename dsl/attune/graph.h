// The value-level graph of a spec: plain constexpr data, no templates. This is what `graph_of`
// returns and what every pass reads and writes.
#pragma once
#include <array>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <vector>

namespace attune {

enum class Op : unsigned char {
  // stored tensors
  input,         // name; read in place
  weight,        // name; read once, by pack_weights
  linear,        // x [.., in], weight [out, in], bias [out] if present: x W^T + b
  split_heads,   // [batch, seq, heads * head_dim] -> [batch, heads, seq, head_dim]; heads in count
  merge_heads,   // the inverse
  repeat_heads,  // [batch, heads, ..] -> [batch, heads * count, ..]; head h reads head h / count
  transpose,     // the last two dims change places
  unsqueeze,     // a dim of extent 1 more, at place count, 0 for the first
  features,      // [.., n] -> [.., count]: those from `from` on
  rope,          // x, frequency, position, divisors if present: rotates pairs of the last dim; see PairRotation
  inverse_norm,  // x [.., n] -> [.., 1]: what normalises each row, see Norm; count is the Norm, value eps
  matmul,        // [.., m, k] x [.., k, n]
  mask,          // scores, predicate: -inf where the predicate is false
  reduce_rows,   // scores, weight, rescale, scale: see reduction.h
  row_value,     // scores, weight, rescale, value: see reduction.h; [batch, heads, q, kv] -> [batch, heads, q]
  // elementwise, on tensors and in index expressions
  add, sub, mul, div, mod, min, max, tanh, exp, log,
  lt, le, eq, both, either, negation,
  // leaves of index expressions
  constant, batch_index, head_index, q_index, kv_index,
  seq_index, pair_index,  // of the angles of a rope: the row of its operand and the pair
  look_up,       // a table, an integer per dim of it: the element there
  // leaves of the algebra of a row reduction
  score, row_max, old_max, row_sum,
};

// What a node's value is. integer, real and predicate have no dims: they are functions of the
// coordinates (batch, head, q, kv) of one score, or of the state of one row.
// scores: a rank-4 tensor [batch, heads, q, kv], the only thing a mask may be put on. integers: a
// stored tensor of int32, which look_up alone reads.
enum class Kind : unsigned char { integer, real, predicate, tensor, scores, integers };

constexpr bool is_index(Kind k) { return k <= Kind::predicate; }

inline constexpr int max_rank = 4;
struct Dims {
  int rank = 0;
  std::array<long, max_rank> d{};
  constexpr bool operator==(const Dims&) const = default;
  constexpr long operator[](int i) const { return d[std::size_t(i < 0 ? rank + i : i)]; }  // -1 is the last
  constexpr long& operator[](int i) { return d[std::size_t(i < 0 ? rank + i : i)]; }
  constexpr long size() const {
    long n = 1;
    for (int i = 0; i < rank; ++i) n *= d[std::size_t(i)];
    return n;
  }
};

struct Type {
  Kind kind = Kind::tensor;
  Dims dims{};
  constexpr bool operator==(const Type&) const = default;
};

enum class Pairs : unsigned char { interleaved, half_split };

// 1 / sqrt(mean(x^2) + eps), as in RMSNorm (arXiv:1910.07467); 1 / max(|x|, eps), as torch's F.normalize.
enum class Norm : long { rms, l2 };

// What rope turns: pair i of the first `dims` features of a row, by position * frequency, each an
// index expression of its own (of pair_index; of seq_index, pair_index, batch_index and tables), the
// frequency divided by divisors[i] if there are any. Interleaved pairs are (2i, 2i+1), as in RoFormer
// (arXiv:2104.09864, eq. 34); half-split ones are (i, i + dims/2), as in GPT-NeoX.
struct PairRotation {
  Pairs pairs = Pairs::interleaved;
  long dims = 0;         // 0: all of head_dim
  double amplitude = 1;  // what turns is also multiplied by this
  constexpr bool operator==(const PairRotation&) const = default;
  constexpr long count(long head_dim) const { return (dims ? dims : head_dim) / 2; }
};

// Everything about a node that is neither operand nor type.
struct Attr {
  std::string_view name{};  // input, weight
  long count = 0;           // split_heads, repeat_heads, unsqueeze, features; an integer constant; a Norm
  long from = 0;            // features
  double value = 0;         // a real constant; eps
  PairRotation rotation{};  // rope
  constexpr bool operator==(const Attr&) const = default;
};

inline constexpr int max_operands = 5;
using Operands = std::array<int, max_operands>;  // -1 behind the last
constexpr Operands operand_list(std::initializer_list<int> in) {
  Operands r{-1, -1, -1, -1, -1};
  std::size_t i = 0;
  for (int k : in) r[i++] = k;
  return r;
}
struct Node {
  Op op = Op::input;
  Type type{};
  Attr attr{};
  Operands in = operand_list({});
  int line = 0;  // where the user wrote it; no part of the node's identity
  constexpr bool same(const Node& o) const { return op == o.op && type == o.type && attr == o.attr && in == o.in; }
  constexpr int operands() const {
    int n = 0;
    while (n < max_operands && in[std::size_t(n)] >= 0) ++n;
    return n;
  }
};

struct Output {
  std::string_view name{};
  int node = -1;
};

struct Graph {
  std::vector<Node> nodes;  // operands stand before their users
  std::vector<Output> outputs;
  constexpr std::size_t size() const { return nodes.size(); }
  constexpr const Node& operator[](int i) const { return nodes[std::size_t(i)]; }
};

// Tells a compiled spec's language from that of the program that reads its graph.
inline constexpr unsigned language = unsigned(sizeof(Node)) * 256 + unsigned(Op::row_sum);

// The shape of the scores over whose coordinates a node's index expressions run, or null.
constexpr const Dims* scores_below(const Graph& g, const Node& n) {
  if (n.op == Op::row_value) return &g[n.in[0]].type.dims;
  return n.type.kind == Kind::scores ? &n.type.dims : nullptr;
}

}  // namespace attune
