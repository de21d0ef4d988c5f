// The attention of the textbooks: Vaswani et al., "Attention Is All You Need" (arXiv:1706.03762),
// with the rotary embedding of RoFormer (arXiv:2104.09864).
#pragma once
#include <attune.h>

namespace zoo {
using namespace attune;

inline constexpr auto causal = kv_index <= q_index;

// softmax(q k^T / sqrt(head_dim)) v on q, k, v [batch, heads, seq, head_dim].
template <long Batch, long Heads, long Seq, long HeadDim, bool Causal>
constexpr auto sdpa = [] {
  auto q = input<Batch, Heads, Seq, HeadDim>("q");
  auto k = input<Batch, Heads, Seq, HeadDim>("k");
  auto v = input<Batch, Heads, Seq, HeadDim>("v");
  auto s = matmul(q, transpose(k)) / sqrt_of<HeadDim>;
  if constexpr (Causal) return matmul(softmax(mask(s, causal)), v);
  else return matmul(softmax(s), v);
};

// x [batch, seq, model] -> [batch, seq, model], causal, with RoPE on queries and keys.
template <long Batch, long Seq, long Model, long Heads>
constexpr auto textbook_mha = [] {
  auto x = input<Batch, Seq, Model>("x");
  auto q = rope(split_heads<Heads>(linear<Model>(x, "wq")));  // [batch, heads, seq, head_dim]
  auto k = rope(split_heads<Heads>(linear<Model>(x, "wk")));
  auto v = split_heads<Heads>(linear<Model>(x, "wv"));
  auto s = matmul(q, transpose(k)) / sqrt_of<Model / Heads>;
  auto p = softmax(mask(s, causal));
  return linear<Model>(merge_heads(matmul(p, v)), "wo");
};

// The same without RoPE: what a textbook's PyTorch module with four bias-free nn.Linear computes.
template <long Batch, long Seq, long Model, long Heads>
constexpr auto textbook_mha_plain = [] {
  auto x = input<Batch, Seq, Model>("x");
  auto q = split_heads<Heads>(linear<Model>(x, "wq"));
  auto k = split_heads<Heads>(linear<Model>(x, "wk"));
  auto v = split_heads<Heads>(linear<Model>(x, "wv"));
  auto s = matmul(q, transpose(k)) / sqrt_of<Model / Heads>;
  auto p = softmax(mask(s, causal));
  return linear<Model>(merge_heads(matmul(p, v)), "wo");
};

}  // namespace zoo
