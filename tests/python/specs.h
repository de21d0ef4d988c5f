// Small specs for the tests of Python.
#pragma once
#include <attune.h>

// Grouped queries and RoPE, its pairs as Meta's weights of Llama want them, and as Hugging Face's do.
constexpr auto llama = [] {
  using namespace attune;
  auto x = input<1, 6, 16>("x");
  auto v = repeat_heads<2>(split_heads<2>(linear<16>(x, "wv")));
  const auto attend = [&](auto q, auto k, Pairs pairs) {
    auto s = matmul(rope(split_heads<4>(q), {.pairs = pairs}), transpose(repeat_heads<2>(rope(split_heads<2>(k), {.pairs = pairs})))) / sqrt_of<8>;
    return linear<16>(merge_heads(matmul(softmax(mask(s, kv_index <= q_index)), v)), "wo");
  };
  return outputs("meta"_out = attend(linear<32>(x, "wq"), linear<16>(x, "wk"), interleaved), "hf"_out = attend(linear<32>(x, "wq_hf"), linear<16>(x, "wk_hf"), half_split));
};

// A table of integers, and two outputs.
constexpr auto padded = [] {
  using namespace attune;
  constexpr auto lengths = table<int32, 2>("lengths");
  auto q = input<2, 2, 12, 8>("q");
  auto k = input<2, 2, 12, 8>("k");
  auto v = input<2, 2, 12, 8>("v");
  auto s = mask(matmul(q, transpose(k)) / sqrt_of<8>, kv_index < lengths(batch_index));
  return outputs("y"_out = matmul(softmax(s), v), "lse"_out = logsumexp(s));
};
