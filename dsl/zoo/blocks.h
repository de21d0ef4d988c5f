// What the families of models share: projections to heads, weighing, and the way back.
#pragma once
#include <zoo/textbook.h>

namespace zoo {

// q, k, v [batch, heads, seq, head_dim] of x by weights wq, wk, wv; B says whether they have biases bq, bk, bv.
template <long Features, long Heads, bool B>
constexpr auto heads_of(auto x, std::string_view weight, std::string_view bias) {
  if constexpr (B)
    return split_heads<Heads>(linear<Features>(x, weight, bias));
  else
    return split_heads<Heads>(linear<Features>(x, weight));
}
template <long HeadDim, long Heads, bool B = false>
constexpr auto queries(auto x) { return heads_of<Heads * HeadDim, Heads, B>(x, "wq", "bq"); }
template <long HeadDim, long Heads, bool B = false>
constexpr auto keys(auto x) { return heads_of<Heads * HeadDim, Heads, B>(x, "wk", "bk"); }
template <long HeadDim, long Heads, bool B = false>
constexpr auto values(auto x) { return heads_of<Heads * HeadDim, Heads, B>(x, "wv", "bv"); }

// weigh(q k^T / sqrt(head_dim)) v, each of the Times query heads of a group reading one key head, then wo.
template <long Model, bool B = false, long Times = 1>
constexpr auto attend(auto q, auto k, auto v, double scale, auto weigh) {
  auto y = merge_heads(matmul(weigh(matmul(q, transpose(repeat_heads<Times>(k))) * scale), repeat_heads<Times>(v)));
  if constexpr (B)
    return linear<Model>(y, "wo", "bo");
  else
    return linear<Model>(y, "wo");
}

inline constexpr auto everything = [](auto s) { return softmax(s); };
inline constexpr auto only = [](auto keep) { return [keep](auto s) { return softmax(mask(s, keep)); }; };
template <long W>
inline constexpr auto last = causal && q_index - kv_index < W;  // this token and the W - 1 before it
template <long W>
inline constexpr auto last_or_all = last<W>;  // of layers that take turns: 0 for the one that sees all tokens before
template <>
inline constexpr auto last_or_all<0> = causal;

}  // namespace zoo
