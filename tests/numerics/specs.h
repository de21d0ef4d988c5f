// The specs that the promises are tested with, each beside its mask as a plain function.
#pragma once
#include "numerics/subject.h"

namespace numerics {

using namespace attune;

// softmax(change(q k^T / sqrt(head_dim))) v; q [B, H, Q, D], k [B, KvH, KV, D], v [B, KvH, KV, DV].
template <long B, long H, long KvH, long Q, long KV, long D, long DV, class F>
Spec attention(std::string name, F change) {
  return spec(std::move(name), [change] {
    auto q = input<B, H, Q, D>("q");
    auto k = input<B, KvH, KV, D>("k");
    auto v = input<B, KvH, KV, DV>("v");
    if constexpr (H == KvH) return matmul(softmax(change(matmul(q, transpose(k)) / sqrt_of<D>)), v);
    else return matmul(softmax(change(matmul(q, transpose(repeat_heads<H / KvH>(k))) / sqrt_of<D>)), repeat_heads<H / KvH>(v));
  });
}

inline constexpr auto full = [](auto s) { return s; };
inline constexpr auto causal = [](auto s) { return mask(s, kv_index <= q_index); };
template <long Shift>  // KV - Q: the last query sees the last key
inline constexpr auto bottom_right = [](auto s) { return mask(s, kv_index <= q_index + Shift); };
template <long W, long Shift = 0>  // the current token and W - 1 before it
inline constexpr auto window = [](auto s) { return mask(s, kv_index <= q_index + Shift && q_index + Shift - kv_index < W); };
template <long W, long Global>  // the first tokens, and a window
inline constexpr auto global_and_window = [](auto s) { return mask(s, kv_index <= q_index && (kv_index < Global || q_index - kv_index < W)); };
template <long Step>
inline constexpr auto dilated = [](auto s) { return mask(s, kv_index <= q_index && (q_index - kv_index) % Step == 0); };

// Whether a pair counts, as the test says it.
using Keep = std::function<bool(long batch, long head, long q, long kv)>;
struct Masked {
  Spec spec;
  Keep keep;
  long q_len, kv_len;
};
std::vector<Masked> masked_specs();  // one of each kind of mask
std::vector<Spec> specs_of(const std::vector<Masked>&);

// f(element, feature) for one row of a tensor [.., seq, features], in every batch and head.
template <class F>
void for_row(const Interface& interface, Bindings& b, const std::string& name, long row, F f) {
  for (const Argument& a : interface.inputs) {
    if (a.name != name) continue;
    const long seq = a.dims[-2], width = a.dims[-1];
    for (long outer = 0; outer < a.dims.size() / (seq * width); ++outer)
      for (long i = 0; i < width; ++i) f(b.find(name)->second[std::size_t((outer * seq + row) * width + i)], i);
  }
}

// f(batch, head, q, offset of its first element) for every row of an output [batch, heads, q, width].
template <class F>
void for_each_row(const Dims& d, F f) {
  for (long b = 0; b < d[0]; ++b)
    for (long h = 0; h < d[1]; ++h)
      for (long i = 0; i < d[2]; ++i) f(b, h, i, ((b * d[1] + h) * d[2] + i) * d[3]);
}

inline const float quiet_nan = __builtin_nanf("");
inline const float inf = __builtin_inff();

}  // namespace numerics
