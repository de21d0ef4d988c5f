// Multi-head latent attention (DeepSeek-V2, arXiv:2405.04434): keys and values of all heads are made of one
// latent vector a token, and what turns with the position is a key of its own that all heads share.
#pragma once
#include <zoo/blocks.h>

namespace zoo {

// Its context of 4096 tokens extended 40 times by YaRN; rotated features keep their length (mscale and
// mscale_all_dim of config.json are equal), and the scores are multiplied by the square of 0.1 mscale ln(40) + 1.
inline constexpr Rotation deepseek_rotation{.base = 10000, .pairs = interleaved};
inline constexpr yarn_scaling deepseek_scaling{.factor = 40, .length = 4096, .attention_factor = 1};
template <long Features>
inline constexpr double deepseek_scale = [] {
  const double m = 0.1 * 0.707 * natural_log(40) + 1;
  return m * m / sqrt_of<Features>;
}();

// As it is trained, and a prompt computed: keys and values of each head, Plain features of a key and HeadDim of a
// value, are expanded from the latent of Rank features. Weights as DeepSeek-V2-Lite has them (no latent of queries):
// wq is q_proj, wkv_a kv_a_proj_with_mqa, kv_norm kv_a_layernorm, wkv_b kv_b_proj, wo o_proj.
template <long Seq, long Model, long Heads, long Rank, long Plain, long Turned, long HeadDim>
constexpr auto deepseek = [] {
  auto x = input<1, Seq, Model>("x");
  auto q = split_heads<Heads>(linear<Heads * (Plain + Turned)>(x, "wq"));
  auto kv = linear<Rank + Turned>(x, "wkv_a");
  auto k_turned = rope(split_heads<1>(features<Rank, Turned>(kv)), deepseek_rotation, deepseek_scaling);
  auto expanded = split_heads<Heads>(linear<Heads * (Plain + HeadDim)>(rms_norm(features<0, Rank>(kv), "kv_norm"), "wkv_b"));
  auto q_turned = rope(features<Plain, Turned>(q), deepseek_rotation, deepseek_scaling);
  auto s = matmul(features<0, Plain>(q), transpose(features<0, Plain>(expanded))) + matmul(q_turned, transpose(repeat_heads<Heads>(k_turned)));
  auto p = softmax(mask(s * deepseek_scale<Plain + Turned>, causal));
  return linear<Model>(merge_heads(matmul(p, features<Plain, HeadDim>(expanded))), "wo");
};

// As it is decoded: the caller has multiplied queries by the keys' half of wkv_b, and multiplies the results by the
// values' half, so that all heads read the cached latent itself, as key and as value. The last query sees all keys.
template <long Queries, long Keys, long Heads, long Rank, long Turned, long Features>
constexpr auto deepseek_absorbed = [] {
  auto latent = repeat_heads<Heads>(input<1, 1, Keys, Rank>("latent"));
  auto k_turned = repeat_heads<Heads>(input<1, 1, Keys, Turned>("k_turned"));
  auto s = matmul(input<1, Heads, Queries, Rank>("q_latent"), transpose(latent)) + matmul(input<1, Heads, Queries, Turned>("q_turned"), transpose(k_turned));
  return matmul(softmax(mask(s * deepseek_scale<Features>, kv_index <= q_index + (Keys - Queries))), latent);
};

}  // namespace zoo
