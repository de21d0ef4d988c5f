// The feed-forward half of a layer of MiniLM; its attention is the zoo's `bert`.
#pragma once
#include <attune.h>

// GELU by the normal distribution, x Phi(x) (arXiv:1606.08415). With a = |x| / sqrt 2 it is max(x, 0) - |x| erfc(a) / 2,
// and erfc(a) is a polynomial of 1 / (1 + 0.3275911 a) times exp(-a^2), within 1.5e-7 (Abramowitz and Stegun, 7.1.26).
constexpr auto gelu(auto x) {
  using namespace attune;
  auto magnitude = max(x, -x);
  auto a = magnitude * 0.7071067811865476;
  auto t = 1 / (1 + 0.3275911 * a);
  auto erfc = t * (0.254829592 + t * (-0.284496736 + t * (1.421413741 + t * (-1.453152027 + t * 1.061405429)))) * exp(-(a * a));
  return max(x, 0.0) - 0.5 * magnitude * erfc;
}

template <long Batch, long Seq, long Model, long Inner>
constexpr auto feed_forward = [] {
  using namespace attune;
  auto x = input<Batch, Seq, Model>("x");
  return linear<Model>(gelu(linear<Inner>(x, "w1", "b1")), "w2", "b2");
};
