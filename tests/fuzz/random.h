// Random choices that are the same on every machine, library and compiler.
#pragma once
#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <iterator>

namespace attune::fuzz {

// SplitMix64 (Steele, Lea, Flood 2014).
class Random {
 public:
  explicit Random(std::uint64_t seed) : state_(seed * 0xD1B54A32D192ED03ull + 0x8CB92BA72F3D8DD7ull) {}

  std::uint64_t bits() {
    std::uint64_t z = state_ += 0x9E3779B97F4A7C15ull;
    z = (z ^ (z >> 30)) * 0xBF58476D1CE4E5B9ull;
    z = (z ^ (z >> 27)) * 0x94D049BB133111EBull;
    return z ^ (z >> 31);
  }
  // In [0, n), n > 0.
  long below(long n) { return long(bits() % std::uint64_t(n)); }
  // In [low, high].
  long between(long low, long high) { return low + below(high - low + 1); }
  bool chance(int percent) { return below(100) < percent; }

  template <class T>
  T of(std::initializer_list<T> choices) { return choices.begin()[below(long(choices.size()))]; }
  template <class C>
  const auto& in(const C& choices) { return *std::next(std::begin(choices), below(long(std::size(choices)))); }

 private:
  std::uint64_t state_;
};

}  // namespace attune::fuzz
