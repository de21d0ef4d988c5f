// exp, exp2 and tanh, from fma and a way to scale by a power of two.
//
// x is split as n ln 2 + r with whole n, |r| <= ln 2 / 2, and e^r is a polynomial: minimax in the
// relative error, its constant 1 so that exp(0) is 1, each coefficient rounded to float from the
// lowest power on and the others fitted anew (fit.py). Degree 5 errs by 9.2e-8, and rounding adds
// about as much. tanh uses (e^r - 1) / r to degree 5, which errs by 1.4e-8. Where a table of 8 costs one
// instruction, x of 2^x is split in eighths and the rest is short: degree 3 errs by 2.6e-8.
#include "isa/tables.h"

namespace attune {
namespace {

struct Reduction {
  std::string whole, rest;  // whole, as a float
  std::string scale;        // of p by 2^n
};

// The real form keeps n a float: adding 1.5 * 2^23 rounds to whole numbers, halves to even.
Reduction reduction(Exponent form) {
  if (form != Exponent::real) return {"ivec n = nearest(%);", "to_real(n)", "add_exponent"};
  return {"vec n = % - splat(12582912.0f);", "n", "scale2"};
}

std::string filled(std::string text, const std::string& part) { return text.replace(text.find('%'), 1, part); }

enum class Ln2 { rounded,
                 in_two,
                 exact_products };

// Lines that set n and r. With ln 2 rounded to float the relative error of the result grows by
// 2.8e-9 |x|; in two parts it does not. Where fma rounds twice, the first part must be so short
// that its products are exact.
std::string split(Exponent form, Ln2 ln2) {
  Reduction by = reduction(form);
  std::string quotient = form != Exponent::real ? "x * splat(1.44269502f)" : "fma(x, splat(1.44269502f), splat(12582912.0f))";
  std::string text = "  " + filled(by.whole, quotient) + "\n";
  auto subtract = [&](const std::string& part, const std::string& from) { return "fma(" + by.rest + ", splat(" + part + "), " + from + ");\n"; };
  text += "  vec r = " + subtract(ln2 == Ln2::exact_products ? "-0.693359375f" : "-0.693147182f", "x");
  if (ln2 == Ln2::exact_products) text += "  r = " + subtract("0.00021219444f", "r");
  if (ln2 == Ln2::in_two) text += "  r = " + subtract("1.90465421e-09f", "r");
  return text;
}

std::string split2(Exponent form) {
  Reduction by = reduction(form);
  return "  " + filled(by.whole, form != Exponent::real ? "x" : "(x + splat(12582912.0f))") + "\n  vec r = x - " + by.rest + ";\n";
}

const char* const power = R"(  vec p = splat(0.00828973018f);
  p = fma(p, r, splat(0.0418978557f));
  p = fma(p, r, splat(0.166676477f));
  p = fma(p, r, splat(0.499991506f));
  p = fma(p, r, splat(0.999999702f));
  p = fma(p, r, splat(1.0f));
)";

const char* const power2 = R"(  vec p = splat(0.00132692605f);
  p = fma(p, r, splat(0.00967129972f));
  p = fma(p, r, splat(0.055507116f));
  p = fma(p, r, splat(0.240222469f));
  p = fma(p, r, splat(0.693147004f));
  p = fma(p, r, splat(1.0f));
)";

const std::string near_head = R"(// 2^x within a relative 2e-7. NaN stays NaN, -inf gives 0; a result below the least normal float is
// 0 or subnormal, one above 2^127 is that or more.
static inline vec exp2_near(vec x) {
)";

const char* const power2_of_fraction = R"(  vec p = splat(0.00187556923f);
  p = fma(p, r, splat(0.00899467524f));
  p = fma(p, r, splat(0.0558212101f));
  p = fma(p, r, splat(0.240155727f));
  p = fma(p, r, splat(0.693152726f));
  p = fma(p, r, splat(0.99999994f));
)";

// Adding 1.5 * 2^20 rounds to eighths, whose number is in the low bits then. As the integer form, it bounds x on
// both sides. What is not finite stays so by the rest, which a sum's exponent would not see to.
const char* const near_by_eighths = R"(  const float* c = exp2_near_constants();
  x = max(splat(c[0]), min(splat(c[1]), x));
  vec t = x + splat(c[2]);
  vec r = x - (t - splat(c[2]));
  vec s = power_of_eighths(t);
  vec p = fma(splat(c[3]), r, splat(c[4]));
  p = fma(p, r, splat(c[5]));
  return fma(p * r, s, s);
}
)";

// The integer form bounds x on both sides: at -127 the exponent added to 1 leaves 0, and what lies between
// there and the least normal float has an exponent of 0. The real form gives the bits of exp2_near_by_fraction.
std::string near(Exponent form) {
  if (form == Exponent::eighths) return near_head + near_by_eighths;
  if (form == Exponent::integer) return near_head + "  x = max(splat(-127.0f), min(splat(127.0f), x));\n  ivec n = nearest(x);\n  vec r = x - to_real(n);\n" + power2 + "  return add_exponent(p, n);\n}\n";
  return near_head + "  x = min(splat(127.0f), x);\n  vec r = fraction(x);\n" + power2_of_fraction + "  return keep_where(not_less(x, splat(-126.0f)), scale2(p, x));\n}\n";
}

const char* const expm1_quotient = R"(  vec q = splat(0.00138703233f);
  q = fma(q, r, splat(0.00836625602f));
  q = fma(q, r, splat(0.041667439f));
  q = fma(q, r, splat(0.166665465f));
  q = fma(q, r, splat(0.49999997f));
  q = fma(q, r, splat(1.0f));
)";

}  // namespace

OpText exp2_near_by_fraction() {
  // A fraction of -inf is 0, and scaling by 2^-inf, or by any power too low, gives 0: no select is needed.
  return {"exp2_near", near_head + "  vec r = fraction(x);\n" + power2_of_fraction + "  return scale2(p, x);\n}\n", {}};
}

std::vector<OpText> exponentials(Exponent form, bool fused) {
  const Ln2 coarse = fused ? Ln2::rounded : Ln2::exact_products, fine = fused ? Ln2::in_two : Ln2::exact_products;
  const std::string scale = reduction(form).scale;
  return {
      {"exp_nonpositive", R"(// e^x for x <= 0, within a relative 2e-7 + 3e-9 |x|. NaN stays NaN. Exactly 0 below -87.3365, where
// the result would be subnormal, and at -inf.
static inline vec exp_nonpositive(vec x) {
)" + split(form, coarse) + power +
                              "  return keep_where(not_less(x, splat(-87.3365021f)), " + scale + "(p, n));\n}\n",
       {}},
      {"shift_of", R"(// What exp_shifted wants to know of a row's peak: -log2(e) * peak, finite for every finite peak.
static inline vec shift_of(vec peak) { return min(splat(__FLT_MAX__), peak * splat(-1.44269502f)); }
)",
       {}},
      {"exp2_near_constants", R"(// Read where they are used, which no compiler may change: sums of a tile hold most registers.
static inline const float* exp2_near_constants() {
  static const float constants[] = {-127.0f, 127.0f, 1572864.0f, 0.055488959f, 0.240257517f,
      0.693147242f};
  const float* c = constants;
  asm(""
      : "+r"(c));
  return c;
}
)",
       {}},
      {"exp2_near", near(form), {}},
      {"exp2_near_in_place", R"(// A score becomes its weight and joins the total.
static inline void exp2_near_in_place(float* score, float* total) {
  vec w = exp2_near(load(score));
  store(score, w);
  store(total, load(total) + w);
}
)",
       {}},
      // The difference is taken in units of log 2, in one fma. Its error, 1e-7 |peak|, is the same factor
      // for all weights of a row and leaves it with their sum.
      {"exp_shifted", R"(// e^(x - peak), given shift_of(peak); otherwise as exp2_near.
static inline vec exp_shifted(vec x, vec shift) {
  return exp2_near(fma(x, splat(1.44269502f), shift));
}
)",
       {}},
      {"exp", R"(// e^x within a relative 2e-7. NaN stays NaN. Exactly 0 below -87.3365, where the result would be
// subnormal, and at -inf; inf where it overflows.
static inline vec exp(vec x) {
)" + split(form, fine) +
                  power + "  vec y = keep_where(not_less(x, splat(-87.3365021f)), " + scale + "(p, n));\n"
                                                                                              "  return select(less(splat(88.7228317f), x), splat(__builtin_inff()), y);\n}\n"
                                                                                              "static inline float exp(float x) { return first(exp(splat(x))); }\n",
       {}},
      {"exp2_nonpositive", R"(// 2^x for x <= 0 within a relative 2e-7. NaN stays NaN. Exactly 0 below -126, where the result
// would be subnormal, and at -inf.
static inline vec exp2_nonpositive(vec x) {
)" + split2(form) + power2 + "  return keep_where(not_less(x, splat(-126.0f)), " +
                               scale + "(p, n));\n}\n",
       {}},
      {"exp2", R"(// 2^x within a relative 2e-7. NaN stays NaN. Exactly 0 below -126, where the result would be
// subnormal, and at -inf; inf where it overflows.
static inline vec exp2(vec x) {
)" + split2(form) + power2 +
                   "  vec y = keep_where(not_less(x, splat(-126.0f)), " + scale + "(p, n));\n"
                                                                                  "  return select(less(x, splat(128.0f)), y, x + splat(__builtin_inff()));\n}\n"
                                                                                  "static inline float exp2(float x) { return first(exp2(splat(x))); }\n",
       {}},
      {"tanh", R"(// Within 2^-22, and a relative 4e-7 however small; +-inf give +-1, NaN stays NaN.
static inline vec tanh(vec a) {
  vec x = max(splat(-20.0f), min(splat(20.0f), a + a));
)" + split(form, coarse) +
                   expm1_quotient + "  vec s = " + scale + "(splat(1.0f), n);\n"
                                                           R"(  vec e = fma(s, r * q, s - splat(1.0f));  // e^2a - 1
  return e / (e + splat(2.0f));
}
static inline float tanh(float x) { return first(tanh(splat(x))); }
)",
       {}},
  };
}

}  // namespace attune
