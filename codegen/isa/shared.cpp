// What every ISA has alike: pragmas, and ops whose text uses other ops alone.
#include "isa/tables.h"

namespace attune {

// Clang warns of ops of which a file uses one overload alone.
Pragmas pragmas(const std::string& target, bool contract) {
  Pragmas text;
  text.open =
      "#ifdef __clang__\n"
      "  #pragma clang diagnostic push\n"
      "  #pragma clang diagnostic ignored \"-Wunused-function\"\n";
  text.close = "#ifdef __clang__\n";
  if (!contract) text.open += "  #pragma clang fp contract(off)\n";
  if (!target.empty()) {
    text.open += "  #pragma clang attribute push( \\\n      __attribute__((target(\"" + target + "\"))), apply_to = function)\n";
    text.close += "  #pragma clang attribute pop\n";
  }
  text.close += "  #pragma clang diagnostic pop\n";
  if (!contract || !target.empty()) {
    text.open += "#else\n  #pragma GCC push_options\n";
    if (!target.empty()) text.open += "  #pragma GCC target(\"" + target + "\")\n";
    if (!contract) text.open += "  #pragma GCC optimize(\"fp-contract=off\")\n";
    text.close += "#else\n  #pragma GCC pop_options\n";
  }
  text.open += "#endif\n";
  text.close += "#endif\n";
  return text;
}

std::vector<OpText> scalar_ops() {
  return {
      {"set_float_state", R"(// Subnormals count as zero, rounding to nearest, no traps. Returns the state before.
static inline unsigned set_float_state() {
#if defined(__x86_64__)
  unsigned before = __builtin_ia32_stmxcsr();
  __builtin_ia32_ldmxcsr(0x9FC0);
  return before;
#elif defined(__aarch64__)
  unsigned long before;
  asm volatile("mrs %0, fpcr"
               : "=r"(before));
  asm volatile("msr fpcr, %0"
               :
               : "r"(1ul << 24));
  return (unsigned)before;
#else
  return 0;
#endif
}
)",
       {}},
      {"restore_float_state", R"(static inline void restore_float_state(unsigned before) {
#if defined(__x86_64__)
  __builtin_ia32_ldmxcsr(before);
#elif defined(__aarch64__)
  asm volatile("msr fpcr, %0"
               :
               : "r"((unsigned long)before));
#else
  (void)before;
#endif
}
)",
       {}},
      {"log", R"(// The natural logarithm within a relative 3e-7, of a normal x; -inf of less, NaN of less than 0.
// Lane by lane, since no hot loop needs it, by the polynomial of Cephes' logf.
static inline float log(float x) {
  if (!(x >= 0x1p-126f)) return x < 0.0f || x != x ? __builtin_nanf("") : -__builtin_inff();
  if (x > 0x1.fffffep127f) return x;
  int bits;
  __builtin_memcpy(&bits, &x, sizeof bits);
  int n = (bits - 0x3f3504f3) >> 23;  // x = 2^n m, sqrt(1/2) <= m < sqrt(2)
  bits -= n << 23;
  float m;
  __builtin_memcpy(&m, &bits, sizeof m);
  float r = m - 1.0f, q = 7.0376836292e-2f, e = (float)n;
  q = q * r - 1.1514610310e-1f;
  q = q * r + 1.1676998740e-1f;
  q = q * r - 1.2420140846e-1f;
  q = q * r + 1.4249322787e-1f;
  q = q * r - 1.6668057665e-1f;
  q = q * r + 2.0000714765e-1f;
  q = q * r - 2.4999993993e-1f;
  q = q * r + 3.3333331174e-1f;
  float y = q * r * (r * r) - 2.12194440e-4f * e;
  return r + (y - 0.5f * (r * r)) + 0.693359375f * e;
}
static inline vec log(vec x) {
  float lane[sizeof(vec) / 4];
  store(lane, x);
  for (float& l : lane) l = log(l);
  return load(lane);
}
)",
       {}},
      {"prefetch", R"(static inline void prefetch(const float* p) { __builtin_prefetch(p); }
)",
       {}},
      {"prefetch_l2", R"(static inline void prefetch_l2(const float* p) { __builtin_prefetch(p, 0, 2); }
)",
       {}},
  };
}

OpText iload_four_columns() {
  return {"iload_four_columns", R"(static inline void iload_four_columns(const int* p, long stride, ivec& a, ivec& b, ivec& c,
    ivec& d) {
  vec x, y, z, w;
  load_four_columns((const float*)p, stride, x, y, z, w);
  a = (ivec)x, b = (ivec)y, c = (ivec)z, d = (ivec)w;
}
)",
          {}};
}

OpText load_strided_part() {
  return {"load_strided_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_strided_part(const float* p, long stride, long n) {
  float lane[sizeof(vec) / 4] = {};
  for (long i = 0; i < n; ++i) {
    lane[i] = p[i * stride];
    asm volatile("");  // no blend of all lanes
  }
  return load(lane);
}
)",
          {}};
}

std::vector<OpText> integer_loads(const char* strided) {
  return {
      {"iload", R"(static inline ivec iload(const int* p) {
  ivec r;
  __builtin_memcpy(&r, p, sizeof r);
  return r;
}
)",
       {}},
      {"iload_strided_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline ivec iload_strided_part(const int* p, long stride, long n) {
  int lane[sizeof(vec) / 4] = {};
  for (long i = 0; i < n; ++i) {
    lane[i] = p[i * stride];
    asm volatile("");  // no blend of all lanes
  }
  return iload(lane);
}
)",
       {"iload"}},
      {"iload_part", R"(static inline ivec iload_part(const int* p, long n) { return iload_strided_part(p, 1, n); }
)",
       {"iload_strided_part"}},
      {"iload_strided", strided, {}},
  };
}

OpText fma_unless() {
  return {"fma_unless", R"(// c where m, else a * b + c.
static inline vec fma_unless(lanes_t m, vec a, vec b, vec c) { return select(m, c, fma(a, b, c)); }
)",
          {}};
}

std::vector<OpText> integer_ops() {
  return {
      {"exponent_of", R"(// floor(log2 x), of a normal x > 0.
static inline vec exponent_of(vec x) { return to_real((ivec)x >> 23) - splat(127.0f); }
)",
       {}},
      {"inverse_power", R"(// 2^-exponent_of(x), for x < 2^127.
static inline vec inverse_power(vec x) {
  return (vec)(isplat(0x7f000000) - ((ivec)x & isplat(0x7f800000)));
}
)",
       {}},
      {"is_minus_zero", R"(static inline lanes_t is_minus_zero(vec a) { return iequal((ivec)a, isplat(-0x7fffffff - 1)); }
)",
       {}},
      {"floor_div", R"(// The quotient rounded down; the divisor is not 0.
static inline long floor_div(long a, long b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline ivec floor_div(ivec a, int b) {
  if (__builtin_constant_p(b) && b > 0 && (b & (b - 1)) == 0) return a >> __builtin_ctz(b);
  ivec q = a / b, r = a - q * b;
  return q + ((r != 0) & ((r ^ b) < 0));
}
)",
       {}},
      {"floor_mod", R"(// What floor_div leaves: it has the sign of the divisor.
static inline long floor_mod(long a, long b) { return a - b * floor_div(a, b); }
static inline ivec floor_mod(ivec a, int b) { return a - b * floor_div(a, b); }
)",
       {}},
  };
}

}  // namespace attune
