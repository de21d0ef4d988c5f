// Decoders: causal, by family. Heads of queries, of keys and values, and their size come last.
#pragma once
#include <zoo/blocks.h>

namespace zoo {

// GPT-2: biases everywhere, positions are added to x before.
template <long Seq, long Model, long Heads>
constexpr auto gpt2 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  return attend<Model, true>(queries<d, Heads, true>(x), keys<d, Heads, true>(x), values<d, Heads, true>(x), 1 / sqrt_of<d>, only(causal));
};

// MPT: ALiBi (arXiv:2108.12409) with slopes 2^(-8 h / heads) of heads 1, 2, .., a power of two of them.
template <long Seq, long Model, long Heads>
constexpr auto mpt = [] {
  static_assert((Heads & (Heads - 1)) == 0, "mpt: the slopes of another number of heads follow another rule");
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  const auto slope = exp(-8 * 0.6931471805599453 / double(Heads) * (head_index + 1));
  return attend<Model>(queries<d, Heads>(x), keys<d, Heads>(x), values<d, Heads>(x), 1 / sqrt_of<d>, [slope](auto s) { return softmax(mask(s - slope * (q_index - kv_index), causal)); });
};

// Phi-2: biases everywhere, RoPE on the first Rotated features of a head.
template <long Seq, long Model, long Heads, long Rotated>
constexpr auto phi2 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr long d = Model / Heads;
  constexpr Rotation how{.pairs = half_split, .dims = Rotated};
  return attend<Model, true>(rope(queries<d, Heads, true>(x), how), rope(keys<d, Heads, true>(x), how), values<d, Heads, true>(x), 1 / sqrt_of<d>, only(causal));
};

// Llama 2 (arXiv:2307.09288) and 3 (arXiv:2407.21783): RoPE, grouped queries, no bias; 3.1 scales its frequencies.
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim>
constexpr auto llama2 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.pairs = half_split};
  return attend<Model, false, Heads / KvHeads>(rope(queries<HeadDim, Heads>(x), how), rope(keys<HeadDim, KvHeads>(x), how), values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(causal));
};
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim>
constexpr auto llama3 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.base = 500000, .pairs = half_split};
  return attend<Model, false, Heads / KvHeads>(rope(queries<HeadDim, Heads>(x), how), rope(keys<HeadDim, KvHeads>(x), how), values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(causal));
};
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim>
constexpr auto llama31 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.base = 500000, .pairs = half_split};
  auto q = rope(queries<HeadDim, Heads>(x), how, llama3_scaling{});
  auto k = rope(keys<HeadDim, KvHeads>(x), how, llama3_scaling{});
  return attend<Model, false, Heads / KvHeads>(q, k, values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(causal));
};

// Mistral (arXiv:2310.06825): a sliding window.
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim, long Window>
constexpr auto mistral = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.pairs = half_split};
  return attend<Model, false, Heads / KvHeads>(rope(queries<HeadDim, Heads>(x), how), rope(keys<HeadDim, KvHeads>(x), how), values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(last<Window>));
};

// Qwen 3 (arXiv:2505.09388): RMSNorm of each head's queries and keys, base 1000000.
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim>
constexpr auto qwen3 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.base = 1000000, .pairs = half_split};
  auto q = rope(rms_norm(queries<HeadDim, Heads>(x), "q_norm"), how);
  auto k = rope(rms_norm(keys<HeadDim, KvHeads>(x), "k_norm"), how);
  return attend<Model, false, Heads / KvHeads>(q, k, values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(causal));
};

// Gemma 2 (arXiv:2408.00118): scores capped at 50. Every other layer sees a window, the others all (Window 0).
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim, long Window>
constexpr auto gemma2 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.pairs = half_split};
  return attend<Model, false, Heads / KvHeads>(rope(queries<HeadDim, Heads>(x), how), rope(keys<HeadDim, KvHeads>(x), how), values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>,
                                               [](auto s) { return softmax(mask(50 * tanh(s / 50), last_or_all<Window>)); });
};

// Gemma 3 (arXiv:2503.19786): QK-norm (its weights are given as 1 + w). Five layers of six see a window, with base
// 10000, the sixth sees all (Window 0), with base 1000000; 1B does not scale its positions.
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim, long Window>
constexpr auto gemma3 = [] {
  auto x = input<1, Seq, Model>("x");
  constexpr Rotation how{.base = Window ? 10000.0 : 1000000.0, .pairs = half_split};
  auto q = rope(rms_norm(queries<HeadDim, Heads>(x), "q_norm"), how);
  auto k = rope(rms_norm(keys<HeadDim, KvHeads>(x), "k_norm"), how);
  return attend<Model, false, Heads / KvHeads>(q, k, values<HeadDim, KvHeads>(x), 1 / sqrt_of<HeadDim>, only(last_or_all<Window>));
};

// Llama 4, as Maverick: three layers of four see their chunk and turn by RoPE; the fourth sees all (Chunk 0), without
// positions, and its scores grow with the logarithm of the position from 8192 on.
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim, long Chunk>
constexpr auto llama4 = [] {
  auto x = input<1, Seq, Model>("x");
  auto q = queries<HeadDim, Heads>(x);
  auto k = keys<HeadDim, KvHeads>(x);
  auto v = values<HeadDim, KvHeads>(x);
  if constexpr (Chunk) {
    constexpr Rotation how{.base = 500000};
    return attend<Model, false, Heads / KvHeads>(rope(q, how), rope(k, how), v, 1 / sqrt_of<HeadDim>, only(causal && q_index / Chunk == kv_index / Chunk));
  } else {
    return attend<Model, false, Heads / KvHeads>(q, k, v, 1 / sqrt_of<HeadDim>, [](auto s) { return softmax(mask(s * (1.0 + 0.1 * log(1.0 + (q_index + 1) / 8192)), causal)); });
  }
};

// gpt-oss (arXiv:2508.10925): biases, YaRN, a learned sink for each head. Every other layer sees a window, the
// others all (Window 0).
template <long Seq, long Model, long Heads, long KvHeads, long HeadDim, long Window>
constexpr auto gpt_oss = [] {
  constexpr auto sinks = learned<Heads>("sinks");
  constexpr auto with_sink = algebra(exp(score - row_max), exp(old_max - row_max), 1.0 / (row_sum + exp(sinks(head_index) - row_max)));
  constexpr Rotation how{.base = 150000, .pairs = half_split};
  constexpr yarn_scaling by{.factor = 32, .length = 4096, .truncate = false};
  auto x = input<1, Seq, Model>("x");
  auto q = rope(queries<HeadDim, Heads, true>(x), how, by);
  auto k = rope(keys<HeadDim, KvHeads, true>(x), how, by);
  return attend<Model, true, Heads / KvHeads>(q, k, values<HeadDim, KvHeads, true>(x), 1 / sqrt_of<HeadDim>, [with_sink](auto s) { return row_reduction(mask(s, last_or_all<Window>), with_sink); });
};

}  // namespace zoo
