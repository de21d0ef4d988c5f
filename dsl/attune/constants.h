// Logarithm and square root of constants: those of <cmath> are no constants for every compiler.
#pragma once
#include <limits>

namespace attune {

// ln(x), to a few units in the last place; 0 unless x is positive and finite, since a NaN is no constant.
constexpr double natural_log(double x) {
  if (!(x > 0 && x <= std::numeric_limits<double>::max())) return 0;
  int exponent = 0;
  for (; x > 1.5; x /= 2) ++exponent;
  for (; x < 0.75; x *= 2) --exponent;
  const double t = (x - 1) / (x + 1), square = t * t;  // ln(x) = 2 atanh(t), |t| <= 1/5
  double sum = 0;
  for (int k = 25; k >= 1; k -= 2) sum = sum * square + 1.0 / k;
  return 2 * t * sum + exponent * 0.6931471805599453;
}

// sqrt(x), to a unit in the last place; likewise.
constexpr double square_root(double x) {
  if (!(x > 0 && x <= std::numeric_limits<double>::max())) return 0;
  double root = x > 1 ? x : 1;
  for (double next = (root + x / root) / 2; next < root; next = (root + x / root) / 2) root = next;  // Newton, from above
  return root;
}

// 1 / x; 0 of 0, since an infinity is no constant.
constexpr double inverse_of(double x) { return x != 0 ? 1 / x : 0; }

}  // namespace attune
