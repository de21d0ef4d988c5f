// Buckets of the distance of a key from its query, by which T5 (arXiv:1910.10683, sec. 2.1) learns a bias.
#pragma once
#include <array>
#include <utility>

#include "attune/constants.h"
#include "attune/ops.h"

namespace attune {

// Where the buckets behind the first `Buckets / 2` begin: bucket b holds the distances n for which
// Buckets/2 + floor(ln(n / (Buckets/2)) / ln(Farthest / (Buckets/2)) * (Buckets - Buckets/2)) is b. Quotients that
// are whole numbers are so in transformers' float32 too, and count as reached here.
template <long Buckets, long Farthest>
inline constexpr auto bucket_begins = [] {
  constexpr long exact = Buckets / 2, wide = Buckets - exact;
  std::array<long, std::size_t(wide - 1)> begins{};
  long n = exact;
  for (long i = 1; i < wide; ++i) {
    while (double(wide) * natural_log(double(n) / double(exact)) < double(i) * natural_log(double(Farthest) / double(exact)) - 1e-9) ++n;
    begins[std::size_t(i - 1)] = n;
  }
  return begins;
}();

// Of a distance that is not negative: each of the first Buckets / 2 has a bucket of its own, those up to Farthest
// share the others by their logarithm, the last holds what is farther.
template <long Buckets, long Farthest>
constexpr auto bucket_of_distance(const auto& n) {
  static_assert(Buckets >= 4 && Farthest > Buckets / 2, "bucket_of_distance<buckets, farthest>(n): there are four buckets at least, the farthest distance is more than half as many");
  return [&]<std::size_t... I>(std::index_sequence<I...>) { return (min(n, Buckets / 2) + ... + min(n / bucket_begins<Buckets, Farthest>[I], 1)); }(std::make_index_sequence<bucket_begins<Buckets, Farthest>.size()>{});
}

// Of encoders: half of the buckets hold keys before their query and at its place, the other half those behind.
template <long Buckets, long Farthest>
inline constexpr auto bucket_to_both_sides = Buckets / 2 * min(max(kv_index - q_index, 0), 1) + bucket_of_distance<Buckets / 2, Farthest>(max(kv_index - q_index, 0) + max(q_index - kv_index, 0));
// Of decoders, which see no key behind.
template <long Buckets, long Farthest>
inline constexpr auto bucket_behind = bucket_of_distance<Buckets, Farthest>(max(q_index - kv_index, 0));

}  // namespace attune
