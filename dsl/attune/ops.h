// The ops of the language. Shapes are compile-time; every broken rule is one error at the user's line.
#pragma once
#include <algorithm>
#include <string_view>

#include "attune/arithmetic.h"
#include "attune/table.h"

namespace attune {

// Names of layers, as in  constexpr auto wq = numbered<12>("wq");  wq[3] is "wq3". Names outlive the
// graph, so this stands outside of the spec.
template <int N>
struct numbered {
  std::array<std::array<char, 32>, std::size_t(N)> text{};
  constexpr explicit numbered(std::string_view name) {
    for (int i = 0; i < N; ++i) {
      char* to = std::copy(name.begin(), name.end(), text[std::size_t(i)].begin());
      int unit = 1;
      while (i / unit >= 10) unit *= 10;
      for (; unit; unit /= 10) *to++ = char('0' + i / unit % 10);
    }
  }
  constexpr std::string_view operator[](int i) const { return text[std::size_t(i)].data(); }
};

// A run-time argument of shape [D...], dense and row-major. Names are C identifiers that outlive
// the graph: string literals, or numbered ones.
template <long... D>
constexpr auto input(std::string_view name, ATTUNE_HERE) {
  if constexpr (sizeof...(D) < 1 || sizeof...(D) > std::size_t(max_rank)) {
    report<Rule::rank_of_input, Op::input, long(sizeof...(D))>();
    return poison{};
  } else if constexpr (constexpr long least = std::min({D...}); least < 0) {
    report<Rule::extent_negative, Op::input, least>();
    return poison{};
  } else {
    return tensor<D...>{ref(Op::input, tensor<D...>::type, {.name = name}, here.line)};
  }
}

template <long... D>
constexpr auto weight_of(std::string_view name, int line) { return tensor<D...>{ref(Op::weight, tensor<D...>::type, {.name = name}, line)}; }

// y = x W^T (+ b), as torch.nn.Linear: x [.., in], weight [Out, in], bias [Out] -> [.., Out].
template <long Out, operand X>
constexpr auto linear(const X& x, std::string_view weight, ATTUNE_HERE) {
  constexpr long in = type_of<X>().dims.rank ? type_of<X>().dims[-1] : 0;
  return make<Op::linear, Out>({}, here.line, x, weight_of<Out, in>(weight, here.line));
}
template <long Out, operand X>
constexpr auto linear(const X& x, std::string_view weight, std::string_view bias, ATTUNE_HERE) {
  constexpr long in = type_of<X>().dims.rank ? type_of<X>().dims[-1] : 0;
  return make<Op::linear, Out>({}, here.line, x, weight_of<Out, in>(weight, here.line), weight_of<Out>(bias, here.line));
}

// [batch, seq, heads * head_dim] -> [batch, heads, seq, head_dim], and back.
template <long Heads, operand X>
constexpr auto split_heads(const X& x, ATTUNE_HERE) { return make<Op::split_heads, Heads>({}, here.line, x); }
template <operand X>
constexpr auto merge_heads(const X& x, ATTUNE_HERE) { return make<Op::merge_heads>({}, here.line, x); }

// [batch, heads, ..] -> [batch, heads * Times, ..]: head h reads head h / Times (grouped-query attention).
template <long Times, operand X>
constexpr auto repeat_heads(const X& x, ATTUNE_HERE) { return make<Op::repeat_heads, Times>({}, here.line, x); }

// [.., m, n] -> [.., n, m].
template <operand X>
constexpr auto transpose(const X& x, ATTUNE_HERE) { return make<Op::transpose>({}, here.line, x); }

// A dim of extent 1 more, at place `At` of the result; -1 is the last: [batch, heads, seq] ->
// [batch, heads, seq, 1], which broadcasts along the features of [batch, heads, seq, head_dim].
template <long At, operand X>
constexpr auto unsqueeze(const X& x, ATTUNE_HERE) { return make<Op::unsqueeze, (At < 0 ? type_of<X>().dims.rank + 1 + At : At)>({}, here.line, x); }

// The Count features from the From-th on, counted from 0: [.., n] -> [.., Count]. A view: nothing is copied.
template <long From, long Count, operand X>
constexpr auto features(const X& x, ATTUNE_HERE) { return make<Op::features, Count, 0, From>({}, here.line, x); }

// x [.., n] / sqrt(mean(x^2) + eps) * weight [n], the mean over the last dim: RMSNorm, and QK-norm where x
// is [batch, heads, seq, head_dim]. A model that multiplies by 1 + weight (Gemma) gives 1 + weight.
template <operand X>
constexpr auto rms_norm(const X& x, std::string_view weight, double eps = 1e-6, ATTUNE_HERE) {
  const auto by = make<Op::inverse_norm, long(Norm::rms)>({.value = eps}, here.line, x);
  if constexpr (is_poison<std::remove_const_t<decltype(by)>>)
    return poison{};
  else
    return make<Op::mul>({}, here.line, make<Op::mul>({}, here.line, x, by), weight_of<type_of<X>().dims[-1]>(weight, here.line));
}

// x [.., n] / max(|x|, eps), the length over the last dim.
template <operand X>
constexpr auto l2_norm(const X& x, double eps = 1e-12, ATTUNE_HERE) {
  const auto by = make<Op::inverse_norm, long(Norm::l2)>({.value = eps}, here.line, x);
  if constexpr (is_poison<std::remove_const_t<decltype(by)>>)
    return poison{};
  else
    return make<Op::mul>({}, here.line, x, by);
}

// a [batch, heads, m, k], b [batch, heads, k, n] -> [batch, heads, m, n]. The product of two
// tensors is a score matrix; the product of scores and a tensor is a tensor.
template <operand A, operand B>
constexpr auto matmul(const A& a, const B& b, ATTUNE_HERE) { return make<Op::matmul>({}, here.line, a, b); }

// Scores where keep holds, -inf elsewhere.
template <operand S, class E>
constexpr auto mask(const S& s, const E& keep, ATTUNE_HERE) {
  if constexpr (operand<E>) {
    return make<Op::mask>({}, here.line, s, keep);
  } else {
    report<Rule::mask_needs_predicate, Op::mask, 0, 0, E>();
    return poison{};
  }
}

// sqrt(N), correctly rounded, for the scale of the scores: std::sqrt is no constant for every
// compiler. By long division in base 4, one bit of the root a step.
template <long N>
inline constexpr double sqrt_of = [] {
  static_assert(N >= 0, "sqrt_of<N>: N is negative; take the head_dim");
  std::uint64_t root = 0, rest = 0;
  int fraction = 0;                                                        // bits of the root behind the point
  for (int digit = 31; N > 0 && root < std::uint64_t(1) << 53; --digit) {  // 53 bits, and one to round by
    rest = rest << 2 | (digit < 0 ? 0 : std::uint64_t(N) >> 2 * digit & 3);
    const std::uint64_t step = root << 2 | 1;
    root <<= 1;
    if (rest >= step) {
      rest -= step;
      ++root;
    }
    if (digit < 0) ++fraction;
  }
  double r = double((root + 1) >> 1);
  for (int i = 1; i < fraction; ++i) r /= 2;
  return r;
}();

}  // namespace attune
