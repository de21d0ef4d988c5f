// Encoders: every token sees every other, or those nearby.
#pragma once
#include <zoo/blocks.h>

namespace zoo {

// BERT (arXiv:1810.04805) and its kin (MiniLM, arXiv:2002.10957): biases everywhere; tokens of padding, behind
// each sequence's length, are not seen.
template <long Batch, long Seq, long Model, long Heads>
constexpr auto bert = [] {
  constexpr auto lengths = table<int32, Batch>("lengths");
  auto x = input<Batch, Seq, Model>("x");
  constexpr long d = Model / Heads;
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads, true>(x), values<d, Heads, true>(x), 1 / sqrt_of<d>, only(kv_index < lengths(batch_index)));
};

// Vision transformer (arXiv:2010.11929) over its patches and the class token.
template <long Seq, long Model, long Heads>
constexpr auto vit = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads, true>(x), values<d, Heads, true>(x), 1 / sqrt_of<d>, everything);
};

// ModernBERT (arXiv:2412.13663): RoPE, without biases; two layers of three (Local) see 64 tokens to either side,
// with base 10000, the third sees all, with base 160000.
template <long Seq, long Model, long Heads, bool Local>
constexpr auto modernbert = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  constexpr Rotation how{.base = Local ? 10000.0 : 160000.0, .pairs = half_split};
  auto q = rope(queries<d, Heads>(x), how);
  auto k = rope(keys<d, Heads>(x), how);
  if constexpr (Local) return attend<Model>(q, k, values<d, Heads>(x), 1 / sqrt_of<d>, only(q_index - kv_index <= 64 && kv_index - q_index <= 64));
  else return attend<Model>(q, k, values<d, Heads>(x), 1 / sqrt_of<d>, everything);
};

// Swin (arXiv:2103.14030): windows of Side x Side patches as batch, a learned bias by how far apart two patches
// are, down and across.
template <long Windows, long Side, long Model, long Heads>
constexpr auto swin = [] {
  constexpr long tokens = Side * Side, d = Model / Heads;
  auto x = input<Windows, tokens, Model>("x");
  constexpr auto down = q_index / Side - kv_index / Side + (Side - 1);
  constexpr auto across = q_index % Side - kv_index % Side + (Side - 1);
  const auto bias = learned<(2 * Side - 1) * (2 * Side - 1), Heads>("relative_position_bias_table")(down * (2 * Side - 1) + across, head_index);
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads, true>(x), values<d, Heads, true>(x), 1 / sqrt_of<d>, [bias](auto s) { return softmax(s + bias); });
};

// T5 (arXiv:1910.10683): scores as they are, and a bias by distance, which is learned in 32 buckets.
template <long Seq, long Model, long Heads, long HeadDim>
constexpr auto t5_encoder = [] {
  const auto bias = learned<32, Heads>("relative_attention_bias")(bucket_to_both_sides<32, 128>, head_index);
  auto x = input<1, Seq, Model>("x");
  return attend<Model>(queries<HeadDim, Heads>(x), keys<HeadDim, Heads>(x), values<HeadDim, Heads>(x), 1, [bias](auto s) { return softmax(s + bias); });
};

// Whisper (arXiv:2212.04356): all projections but that of the keys have a bias.
template <long Seq, long Model, long Heads>
constexpr auto whisper_encoder = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads>(x), values<d, Heads, true>(x), 1 / sqrt_of<d>, everything);
};
// Its decoder's attention to what the encoder heard.
template <long Seq, long Heard, long Model, long Heads>
constexpr auto whisper_cross = [] {
  auto x = input<1, Seq, Model>("x");
  auto heard = input<1, Heard, Model>("heard");
  constexpr long d = Model / Heads;
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads>(heard), values<d, Heads, true>(heard), 1 / sqrt_of<d>, everything);
};

}  // namespace zoo
