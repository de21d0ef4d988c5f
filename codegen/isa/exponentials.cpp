// exp and tanh, from fma and a way to scale by a power of two.
#include "isa/tables.h"

namespace attune {
namespace {

// x = n ln 2 + r with |r| <= ln 2 / 2. The real form lets n stay a float: adding 1.5 * 2^23 rounds.
// `fine` adds the low part of ln 2, without which the relative error grows by 3e-9 |x|.
std::string reduction(Exponent form, bool fine) {
  std::string text = form == Exponent::integer
                         ? "  ivec n = nearest(x * splat(1.44269502f));\n  vec r = fma(to_real(n), splat(-0.693147182f), x);\n"
                         : "  vec n = fma(x, splat(1.44269502f), splat(12582912.0f)) - splat(12582912.0f);\n  vec r = fma(n, splat(-0.693147182f), x);\n";
  if (fine) text += form == Exponent::integer ? "  r = fma(to_real(n), splat(1.90465421e-09f), r);\n" : "  r = fma(n, splat(1.90465421e-09f), r);\n";
  return text;
}

}  // namespace

std::vector<OpText> exponentials(Exponent form) {
  const std::string scale = form == Exponent::integer ? "add_exponent" : "scale2";
  const std::string power = R"(  vec p = splat(0.00829761941f);
  p = fma(p, r, splat(0.0419156291f));
  p = fma(p, r, splat(0.166675761f));
  p = fma(p, r, splat(0.499988914f));
  p = fma(p, r, splat(0.999999702f));
  p = fma(p, r, splat(1.00000012f));
)";
  return {
      {"exp_nonpositive",
       "// e^x for x <= 0. NaN stays NaN; below -87.3365, -inf included, it is exactly 0.\n"
       "static inline vec exp_nonpositive(vec x) {\n" +
           reduction(form, false) + power +
           "  return keep_where(not_less(x, splat(-87.3365021f)), " + scale + "(p, n));\n}\n",
       {}},
      {"exp",
       "// e^x. NaN stays NaN; below -87.3365, -inf included, it is exactly 0; what overflows is inf.\n"
       "static inline vec exp(vec x) {\n" +
           reduction(form, true) + power +
           "  vec y = keep_where(not_less(x, splat(-87.3365021f)), " + scale + "(p, n));\n"
                                                                               "  return select(less(splat(88.7228317f), x), splat(__builtin_inff()), y);\n}\n"
                                                                               "static inline float exp(float x) { return first(exp(splat(x))); }\n",
       {}},
      {"tanh", std::string("// Error below 2^-22, relative to the result as well; +-inf give +-1, NaN stays NaN.\n") + "static inline vec tanh(vec a) {\n"
                                                                                                                       "  vec x = max(splat(-20.0f), min(splat(20.0f), a + a));  // NaN passes as second operand\n" +
                   reduction(form, false) +
                   R"(  vec q = splat(0.00138888729f);
  q = fma(q, r, splat(0.00836910401f));
  q = fma(q, r, splat(0.0416671373f));
  q = fma(q, r, splat(0.166665062f));
  q = fma(q, r, splat(0.49999997f));
  q = fma(q, r, splat(1.0f));
)" + "  vec s = " + scale +
                   "(splat(1.0f), n);\n"
                   R"(  vec e = fma(s, r * q, s - splat(1.0f));  // e^x - 1, without cancellation near 0
  return e / (e + splat(2.0f));
}
static inline float tanh(float x) { return first(tanh(splat(x))); }
)",
       {}},
  };
}

}  // namespace attune
