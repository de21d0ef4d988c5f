// Rotary embeddings as their users write them: scaled frequencies, positions of the caller, sections.
#pragma once
#include "variants/masks.h"

namespace variants {

// Causal attention of two heads of 8 whose queries and keys `rotate` turns; B sequences.
template <long T, long B = 1, class F>
constexpr auto rotated_attention(F rotate) {
  auto q = rotate(input<B, 2, T, 8>("q"));
  auto k = rotate(input<B, 2, T, 8>("k"));
  auto v = input<B, 2, T, 8>("v");
  return matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<8>, causal)), v);
}
inline constexpr Rotation halves{.base = 100, .pairs = half_split};

template <long T>
constexpr auto rope_linear = [] { return rotated_attention<T>([](auto x) { return rope(x, {.base = 100}, linear_scaling{.factor = 4}); }); };
template <long T>
constexpr auto rope_ntk = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, ntk_scaling{.factor = 4}); }); };
template <long T>  // of a model trained at length 7
constexpr auto rope_dynamic_ntk = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, dynamic_ntk_scaling{.factor = 2, .length = 7, .at = 18}); }); };
template <long T>
constexpr auto rope_yarn = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, yarn_scaling{.factor = 4, .length = 16, .fast = 2, .slow = 0.25}); }); };
template <long T>  // gpt-oss: pairs that are no whole numbers
constexpr auto rope_yarn_untruncated = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, yarn_scaling{.factor = 32, .length = 16, .fast = 2, .slow = 0.25, .truncate = false}); }); };
template <long T>
constexpr auto rope_llama3 = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, llama3_scaling{.factor = 8, .low = 0.25, .high = 1.5, .length = 16}); }); };
template <long T>
constexpr auto rope_longrope = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, longrope_scaling{.divisors = "long_factor", .factor = 4, .length = 16}); }); };

template <long T>
constexpr auto positions = table<int32, 2, T>("positions");
template <long T>
constexpr auto positions_of_sections = table<int32, 3, T>("positions");
template <long T>  // packed sequences: each row says where it stands
constexpr auto rope_positions = [] { return rotated_attention<T, 2>([](auto x) { return rope(x, halves, positions<T>(batch_index, seq_index)); }); };
template <long T>  // Qwen2-VL: time, height and width, for 1, 2 and 1 pairs
constexpr auto rope_sections = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, positions_of_sections<T>(section_of<1, 2, 1>, seq_index)); }); };
template <long T>  // interleaved sections, as in Qwen3-VL
constexpr auto rope_interleaved_sections = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, positions_of_sections<T>(pair_index % 3, seq_index)); }); };

// Multi-head latent attention (DeepSeek-V2): of each head's 4 + 8 features of a key, 4 are expanded from a latent of
// 6 as the values are, and 8 turn, the same for both heads.
template <long T>
constexpr auto latent_expanded = [] {
  const auto turned = [](auto x) { return rope(x, {.base = 100}, yarn_scaling{.factor = 4, .length = 16, .fast = 2, .slow = 0.25, .attention_factor = 1}); };
  auto x = input<1, T, 12>("x");
  auto q = split_heads<2>(linear<24>(x, "wq"));
  auto kv = linear<14>(x, "wkv_a");
  auto latent = rms_norm(features<0, 6>(kv), "kv_norm");
  auto expanded = split_heads<2>(linear<16>(latent, "wkv_b"));
  auto k_turned = repeat_heads<2>(turned(split_heads<1>(features<6, 8>(kv))));
  auto s = matmul(features<0, 4>(q), transpose(features<0, 4>(expanded))) + matmul(turned(features<4, 8>(q)), transpose(k_turned));
  return linear<12>(merge_heads(matmul(softmax(mask(s / sqrt_of<12>, causal)), features<4, 4>(expanded))), "wo");
};

// Patches of a grid 6 wide, as in vision transformers: the first half of the pairs turns by the row, the
// second by the column, each half with frequencies from 1 on.
struct of_either_axis {
  constexpr auto frequency(double base, long dims) const { return exp(pair_index % (dims / 4) * (-4.0 / double(dims)) * log(lift(base))); }
  constexpr double amplitude() const { return 1; }
};
inline constexpr auto of_columns = section_of<2, 2>;
template <long T>
constexpr auto rope_grid = [] { return rotated_attention<T>([](auto x) { return rope(x, halves, of_either_axis{}, (1 - of_columns) * (seq_index / 6) + of_columns * (seq_index % 6)); }); };

}  // namespace variants
