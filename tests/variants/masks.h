// The masks that models use, as predicates. Numbers are small, so that short sequences show them.
#pragma once
#include <attune.h>

namespace variants {

using namespace attune;

inline constexpr auto distance = [](auto a, auto b) { return max(a - b, b - a); };
inline constexpr auto behind = q_index - kv_index;  // how far the key lies in the past

inline constexpr auto causal = kv_index <= q_index;  // the first query sees one key
template <long Queries, long Keys>                   // the last query sees all keys
constexpr auto causal_to_the_end = kv_index <= q_index + (Keys - Queries);
inline constexpr auto sliding_window = causal && behind < 7;                // Mistral: this token and six before it
inline constexpr auto two_sided_window = distance(q_index, kv_index) <= 5;  // ModernBERT
inline constexpr auto dilated_window = causal && behind % 3 == 0 && behind < 15;
inline constexpr auto chunked = causal && q_index / 8 == kv_index / 8;  // Llama 4
inline constexpr auto block_local = q_index / 8 == kv_index / 8;
inline constexpr auto block_and_neighbours = distance(q_index / 4, kv_index / 4) <= 1;
inline constexpr auto prefix_lm = causal || kv_index < 6;                                           // PaliGemma
inline constexpr auto global_tokens = q_index < 2 || kv_index < 2 || two_sided_window;              // Longformer
inline constexpr auto strided = causal && (behind < 4 || behind % 4 == 0);                          // sparse transformer, fig. 3b
inline constexpr auto fixed_stride = causal && (q_index / 4 == kv_index / 4 || kv_index % 4 == 3);  // the same, fig. 3c
inline constexpr auto a_shaped = causal && (kv_index < 3 || behind < 5);                            // attention sinks and a window
inline constexpr auto neighbourhood_1d = distance(q_index, kv_index) <= 2;
inline constexpr auto neighbourhood_2d = distance(q_index / 6, kv_index / 6) <= 1 && distance(q_index % 6, kv_index % 6) <= 1;
inline constexpr auto neighbourhood_3d = distance(q_index / 9, kv_index / 9) <= 1 && distance(q_index / 3 % 3, kv_index / 3 % 3) <= 1 && distance(q_index % 3, kv_index % 3) <= 1;
inline constexpr auto padded_by_constants = kv_index < 11 + 3 * batch_index;
inline constexpr auto local_head = head_index < 1 || sliding_window;  // one head sees everything

}  // namespace variants
