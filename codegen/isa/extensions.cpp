// Any shape in portable C++, by the vector extensions of GCC and Clang: a vec is one vector of the
// width that the compiler's flags allow, or a pair of vecs of half the lanes. A 32-byte vector
// would do for 8 lanes without AVX2, were it not that GCC compares those lane by lane.
#include <fmt/format.h>

#include <algorithm>

#include "isa/tables.h"

namespace attune {
namespace {

// `name` as a base of 4 or 8 lanes doubled once or twice.
std::string doubled(const std::string& name, const std::string& base, int doublings) {
  if (doublings < 2) return fmt::format("using {} = {};\n", name, doublings ? "pair<" + base + ">" : base);
  return fmt::format("using half_{0} = pair<{1}>;\nusing {0} = pair<half_{0}>;\n", name, base);
}

const char* const wide = "#if defined(__AVX2__)\n";
const char* const wide_fused = "#if defined(__AVX2__) && defined(__FMA__)\n";

// `line` for a base of 32 bytes and for one of 16.
template <class Line>
std::string by_width(bool fused, Line line) {
  return std::string(fused ? wide_fused : wide) + line(32) + "#else\n" + line(16) + "#endif\n";
}

int doublings(int lanes, int bytes) { return lanes * 4 <= bytes ? 0 : 1 + doublings(lanes, 2 * bytes); }

std::string float_types(int lanes, bool fused) {
  auto types = [&](int bytes) {
    return fmt::format("typedef float base __attribute__((vector_size({0})));\ntypedef int ibase __attribute__((vector_size({0})));\n{1}", bytes, doubled("vec", "base", doublings(lanes, bytes)));
  };
  return R"(template <class Half>
struct pair {
  Half lo, hi;
};
)" + by_width(fused, types) +
         R"(enum { base_lanes = sizeof(base) / 4 };

template <class A>
static inline pair<A> join(A lo, A hi) { return {lo, hi}; }
template <class A>
static inline pair<A> operator+(pair<A> a, pair<A> b) { return {a.lo + b.lo, a.hi + b.hi}; }
template <class A>
static inline pair<A> operator-(pair<A> a, pair<A> b) { return {a.lo - b.lo, a.hi - b.hi}; }
template <class A>
static inline pair<A> operator*(pair<A> a, pair<A> b) { return {a.lo * b.lo, a.hi * b.hi}; }
template <class A>
static inline pair<A> operator/(pair<A> a, pair<A> b) { return {a.lo / b.lo, a.hi / b.hi}; }
template <class A>
static inline pair<A> operator-(pair<A> a) { return {-a.lo, -a.hi}; }
)";
}

// An op that works lane by lane: its text on the base, and the same for pairs.
OpText lanewise(const std::string& name, int operands, const std::string& base) {
  static const char* const heads[] = {"", "<class A>", "<class A, class B>", "<class A, class B, class C>"};
  static const char* const params[] = {"", "pair<A> a", "pair<A> a, pair<B> b", "pair<A> a, pair<B> b, pair<C> c"};
  static const char* const low[] = {"", "a.lo", "a.lo, b.lo", "a.lo, b.lo, c.lo"};
  static const char* const high[] = {"", "a.hi", "a.hi, b.hi", "a.hi, b.hi, c.hi"};
  return {name, fmt::format("{}template {}\nstatic inline auto {}({}) {{\n  return join({}({}), {}({}));\n}}\n", base, heads[operands], name, params[operands], name, low[operands], name, high[operands]), {}};
}

std::vector<OpText> memory_ops() {
  return {
      {"load", R"(template <class V>
static inline V load_as(const float* p) {
  if constexpr (sizeof(V) == sizeof(base)) {
    base a;
    __builtin_memcpy(&a, p, sizeof a);
    return a;
  } else {
    return join(load_as<decltype(V::lo)>(p), load_as<decltype(V::lo)>(p + sizeof(V) / 8));
  }
}
static inline vec load(const float* p) { return load_as<vec>(p); }
)",
       {}},
      {"store", R"(static inline void store(float* p, base a) { __builtin_memcpy(p, &a, sizeof a); }
template <class A>
static inline void store(float* p, pair<A> a) {
  store(p, a.lo);
  store(p + sizeof(A) / 4, a.hi);
}
)",
       {}},
      // Lane by lane behind a barrier: of a condition in a loop over all lanes GCC 12 makes a blend, which reads them
      // all, and of a plain loop over n a call of memcpy.
      {"load_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_part(const float* p, long n) {
  float lane[sizeof(vec) / 4] = {};
  for (long i = 0; i < n; ++i) {
    lane[i] = p[i];
    asm volatile("");  // no blend of all lanes and no memcpy
  }
  return load(lane);
}
)",
       {}},
      {"store_part", R"(// The first n lanes; nothing beyond them is touched.
static inline void store_part(float* p, vec a, long n) {
  float lane[sizeof(vec) / 4];
  store(lane, a);
  for (long i = 0; i < n; ++i) {
    p[i] = lane[i];
    asm volatile("");  // no memcpy
  }
}
)",
       {}},
      {"load_strided", R"(static inline vec load_strided(const float* p, long stride) {
  float lane[sizeof(vec) / 4];
  for (long i = 0; i < (long)sizeof(vec) / 4; ++i) lane[i] = p[i * stride];
  return load(lane);
}
)",
       {}},
      load_strided_part(),
      {"splat", R"(template <class V>
static inline V splat_as(float x) {
  if constexpr (sizeof(V) == sizeof(base)) {
    return x - base{};
  } else {
    return join(splat_as<decltype(V::lo)>(x), splat_as<decltype(V::lo)>(x));
  }
}
static inline vec splat(float x) { return splat_as<vec>(x); }
)",
       {}},
      {"isplat", R"(template <class V>
static inline V isplat_as(int x) {
  if constexpr (sizeof(V) == sizeof(ibase)) {
    return x - ibase{};
  } else {
    return join(isplat_as<decltype(V::lo)>(x), isplat_as<decltype(V::lo)>(x));
  }
}
static inline ivec isplat(int x) { return isplat_as<ivec>(x); }
)",
       {}},
      {"iota", R"(template <class V>
static inline V iota_as(int from) {
  if constexpr (sizeof(V) == sizeof(ibase)) {
    ibase a;
    for (int i = 0; i < base_lanes; ++i) a[i] = from + i;
    return a;
  } else {
    const int half = sizeof(V) / 8;
    return join(iota_as<decltype(V::lo)>(from), iota_as<decltype(V::lo)>(from + half));
  }
}
static inline ivec iota() { return iota_as<ivec>(0); }
)",
       {}},
  };
}

OpText fma_op(bool fused) {
  if (!fused)
    return lanewise("fma", 3, R"(// a * b + c, rounded once or twice as the CPU has it.
static inline base fma(base a, base b, base c) { return a * b + c; }
)");
  return lanewise("fma", 3, R"(// a * b + c, rounded once.
static inline base fma(base a, base b, base c) {
#if defined(__AVX2__) && defined(__FMA__)
  return _mm256_fmadd_ps(a, b, c);
#else
  for (int i = 0; i < base_lanes; ++i) c[i] = __builtin_fmaf(a[i], b[i], c[i]);
  return c;
#endif
}
)");
}

std::vector<OpText> lane_ops() {
  return {
      lanewise("select", 3, R"(// b where a, else c.
static inline base select(ibase a, base b, base c) {
  return (base)(((ibase)b & a) | ((ibase)c & ~a));
}
)"),
      lanewise("keep_where", 2, R"(// b where a, else 0, whatever b holds there.
static inline base keep_where(ibase a, base b) { return (base)((ibase)b & a); }
)"),
      lanewise("less", 2, R"(// False where either is NaN.
static inline ibase less(base a, base b) { return a < b; }
)"),
      lanewise("less_equal", 2, R"(// False where either is NaN.
static inline ibase less_equal(base a, base b) { return a <= b; }
)"),
      lanewise("equal", 2, R"(// False where either is NaN.
static inline ibase equal(base a, base b) { return a == b; }
)"),
      lanewise("not_less", 2, R"(// True where either is NaN.
static inline ibase not_less(base a, base b) { return ~(a < b); }
)"),
      lanewise("min", 2, R"(// The second operand where either is NaN.
static inline base min(base a, base b) { return select(a < b, a, b); }
static inline float min(float a, float b) { return a < b ? a : b; }
)"),
      lanewise("max", 2, R"(// The second operand where either is NaN.
static inline base max(base a, base b) { return select(a > b, a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }
)"),
      lanewise("both", 2, "static inline ibase both(ibase a, ibase b) { return a & b; }\n"),
      lanewise("either", 2, "static inline ibase either(ibase a, ibase b) { return a | b; }\n"),
      lanewise("negation", 1, "static inline ibase negation(ibase a) { return ~a; }\n"),
      {"any", R"(static inline bool any(ibase a) {
  unsigned long long word[sizeof(a) / 8], seen = 0;
  __builtin_memcpy(word, &a, sizeof a);
  for (unsigned long long w : word) seen |= w;
  return seen != 0;
}
template <class A>
static inline bool any(pair<A> a) { return any(either(a.lo, a.hi)); }
)",
       {}},
      {"all_lanes", "static inline lanes_t all_lanes(bool b) { return isplat(-b); }\n", {}},
      {"has_nan", "static inline bool has_nan(vec a) { return any(negation(equal(a, a))); }\n", {}},
      lanewise("iless", 2, "static inline ibase iless(ibase a, ibase b) { return a < b; }\n"),
      lanewise("iless_equal", 2, "static inline ibase iless_equal(ibase a, ibase b) { return a <= b; }\n"),
      lanewise("iequal", 2, "static inline ibase iequal(ibase a, ibase b) { return a == b; }\n"),
      lanewise("imin", 2, "static inline ibase imin(ibase a, ibase b) { return (a & (a < b)) | (b & (a >= b)); }\n"),
      lanewise("imax", 2, "static inline ibase imax(ibase a, ibase b) { return (a & (a > b)) | (b & (a <= b)); }\n"),
      lanewise("to_real", 1, "static inline base to_real(ibase a) { return __builtin_convertvector(a, base); }\n"),
      lanewise("nearest", 1, R"(// The nearest integers, halves to even, for |a| < 2^22; 0 for NaN.
static inline ibase nearest(base a) { return ((ibase)(a + 12582912.0f) - 0x4b400000) & (a == a); }
)"),
      lanewise("add_exponent", 2, R"(// a * 2^b where that is neither subnormal nor beyond the greatest float.
static inline base add_exponent(base a, ibase b) { return (base)((ibase)a + (b << 23)); }
)"),
      lanewise("power_of_eighths", 1, R"(// 2^(n / 8), n being the low bits of a.
static inline base power_of_eighths(base a) {
  const int powers[] = {)" + eighths() + R"(};
  ibase n = (ibase)a;
  for (unsigned i = 0; i < sizeof n / 4; ++i) n[i] = powers[n[i] & 7] + (int)((unsigned)n[i] << 20);
  return (base)n;
}
)"),
      lanewise("exponent_of", 1, R"(// floor(log2 a), of a normal a > 0.
static inline base exponent_of(base a) {
  return __builtin_convertvector((ibase)a >> 23, base) - 127.0f;
}
)"),
      lanewise("inverse_power", 1, R"(// 2^-exponent_of(a), for a < 2^127.
static inline base inverse_power(base a) { return (base)(0x7f000000 - ((ibase)a & 0x7f800000)); }
)"),
      lanewise("is_minus_zero", 1, "static inline ibase is_minus_zero(base a) { return (ibase)a == -0x7fffffff - 1; }\n"),
      lanewise("fraction", 1, R"(// a less the greatest integer that is not above it, rounded down.
static inline base fraction(base a) {
  base n = (a + 12582912.0f) - 12582912.0f;
  n += __builtin_convertvector(a < n, base);
  base r = a - n, back = r - a, lost = (a - (r - back)) - (n + back);
  return (base)((ibase)r + (lost < 0));
}
)"),
      lanewise("scale2", 2, R"(// a * 2^floor(b) where that is neither subnormal nor beyond the greatest float; NaN if a is.
static inline base scale2(base a, base b) {
  ibase n = __builtin_convertvector(b, ibase);
  n += __builtin_convertvector(n, base) > b;
  return (base)((ibase)a + (n << 23));
}
)"),
      lanewise("swap_pairs", 1, R"(// Lanes 1, 0, 3, 2, ..
static inline base swap_pairs(base a) {
  base b;
  for (int i = 0; i < base_lanes; ++i) b[i] = a[i ^ 1];
  return b;
}
)"),
  };
}

std::vector<OpText> horizontal_ops() {
  return {
      {"first", R"(static inline float first(base a) { return a[0]; }
template <class A>
static inline float first(pair<A> a) { return first(a.lo); }
)",
       {}},
      {"reduce_add", R"(static inline float reduce_add(vec a) {
  float lane[sizeof(vec) / 4];
  store(lane, a);
  for (int half = sizeof(vec) / 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] += lane[i + half];
  return lane[0];
}
)",
       {}},
      {"reduce_max", R"(// A NaN may be lost.
static inline float reduce_max(vec a) {
  float lane[sizeof(vec) / 4];
  store(lane, a);
  for (int half = sizeof(vec) / 8; half > 0; half /= 2)
    for (int i = 0; i < half; ++i) lane[i] = max(lane[i], lane[i + half]);
  return lane[0];
}
)",
       {}},
      {"load_four_columns", R"(// Lane i of a is p[i * stride], of b, c and d the next three.
static inline void load_four_columns(const float* p, long stride, vec& a, vec& b, vec& c, vec& d) {
  float lane[4][sizeof(vec) / 4];
  for (long i = 0; i < (long)sizeof(vec) / 4; ++i)
    for (long j = 0; j < 4; ++j) lane[j][i] = p[i * stride + j];
  a = load(lane[0]), b = load(lane[1]), c = load(lane[2]), d = load(lane[3]);
}
)",
       {}},
      {"transpose_block", R"(// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for all lanes i, j,
// 4 x 4 at a time.
static inline void transpose_block(const float* from, long from_stride, float* to, long to_stride,
    vec scale) {
  typedef float four __attribute__((vector_size(16)));
  float factors[sizeof(vec) / 4];
  store(factors, scale);
  for (long i = 0; i < (long)sizeof(vec) / 4; i += 4)
    for (long j = 0; j < (long)sizeof(vec) / 4; j += 4) {
      four a, b, c, d, factor;
      const float* p = from + i * from_stride + j;
      __builtin_memcpy(&a, p, 16);
      __builtin_memcpy(&b, p + from_stride, 16);
      __builtin_memcpy(&c, p + 2 * from_stride, 16);
      __builtin_memcpy(&d, p + 3 * from_stride, 16);
      __builtin_memcpy(&factor, factors + i, 16);
      four ab = __builtin_shufflevector(a, b, 0, 4, 1, 5);
      four cd = __builtin_shufflevector(c, d, 0, 4, 1, 5);
      four ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
      four cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
      a = factor * __builtin_shufflevector(ab, cd, 0, 1, 4, 5);
      b = factor * __builtin_shufflevector(ab, cd, 2, 3, 6, 7);
      c = factor * __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5);
      d = factor * __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7);
      float* q = to + j * to_stride + i;
      __builtin_memcpy(q, &a, 16);
      __builtin_memcpy(q + to_stride, &b, 16);
      __builtin_memcpy(q + 2 * to_stride, &c, 16);
      __builtin_memcpy(q + 3 * to_stride, &d, 16);
    }
}
)",
       {}},
      {"floor_div", R"(// The quotient rounded down; the divisor is not 0.
static inline long floor_div(long a, long b) {
  return a / b - (a % b != 0 && (a % b < 0) != (b < 0));
}
static inline ibase floor_div(ibase a, int b) {
  ibase q = a / b, r = a - q * b;
  return q + ((r != 0) & ((r ^ b) < 0));
}
template <class A>
static inline pair<A> floor_div(pair<A> a, int b) {
  return {floor_div(a.lo, b), floor_div(a.hi, b)};
}
)",
       {}},
      {"floor_mod", R"(// What floor_div leaves: it has the sign of the divisor.
static inline long floor_mod(long a, long b) { return a - b * floor_div(a, b); }
static inline ivec floor_mod(ivec a, int b) { return a - isplat(b) * floor_div(a, b); }
)",
       {}},
  };
}

constexpr const char* iload_strided = R"(static inline ivec iload_strided(const int* p, long stride) {
  int lane[sizeof(vec) / 4];
  for (long i = 0; i < (long)(sizeof(vec) / 4); ++i) lane[i] = p[i * stride];
  return iload(lane);
}
)";

OpText four_columns_of_ints() {
  return {"iload_four_columns", R"(static inline void iload_four_columns(const int* p, long stride, ivec& a, ivec& b, ivec& c,
    ivec& d) {
  int lane[4][sizeof(ivec) / 4];
  for (long i = 0; i < (long)sizeof(ivec) / 4; ++i)
    for (long j = 0; j < 4; ++j) lane[j][i] = p[i * stride + j];
  a = iload(lane[0]), b = iload(lane[1]), c = iload(lane[2]), d = iload(lane[3]);
}
)",
          {}};
}

}  // namespace

std::vector<OpText> vector_extensions(int lanes, bool fused, Exponent form) {
  auto integers = [&](int bytes) { return doubled("ivec", "ibase", doublings(lanes, bytes)); };
  std::vector<OpText> types_of{{"vec", float_types(lanes, fused), {}}, {"ivec", by_width(fused, integers), {}}, {"lanes_t", "using lanes_t = ivec;  // -1 is true, 0 false\n", {}}};
  std::vector<OpText> ops = table({types_of, memory_ops(), {fma_op(fused)}, lane_ops(), {fma_unless()}, horizontal_ops(), integer_loads(iload_strided), {four_columns_of_ints()}, exponentials(form, fused), scalar_ops()});
  for (OpText& op : ops)  // what stands on `base` stands on the text of vec
    if (op.name != "vec" && std::find(op.needs.begin(), op.needs.end(), "vec") == op.needs.end()) op.needs.push_back("vec");
  return ops;
}

}  // namespace attune
