// Any CPU, by the vector extensions of GCC and Clang.
#include "isa/tables.h"

namespace attune {

Isa portable_isa() {
  Isa isa;
  isa.name = "portable";
  isa.lanes = 4;
  isa.registers = 16;
  isa.machine = {1, 2, 4, 32 * 1024, 256 * 1024};
  isa.open = R"(#ifdef __clang__
#pragma clang diagnostic push
#pragma clang diagnostic ignored "-Wunused-function"
#endif
)";
  isa.close = R"(#ifdef __clang__
#pragma clang diagnostic pop
#endif
)";
  isa.cpu_test = "1";
  std::vector<OpText> ops = {
      {"vec", "typedef float vec __attribute__((vector_size(16)));\n", {}},
      {"ivec", "typedef int ivec __attribute__((vector_size(16)));\n", {}},
      {"lanes_t", "using lanes_t = ivec;  // -1 is true, 0 false\n", {}},
      {"load", R"(static inline vec load(const float* p) {
  vec a;
  __builtin_memcpy(&a, p, sizeof a);
  return a;
}
)",
       {}},
      {"store", R"(static inline void store(float* p, vec a) { __builtin_memcpy(p, &a, sizeof a); }
)",
       {}},
      {"load_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_part(const float* p, long n) {
  return vec{n > 0 ? p[0] : 0.0f, n > 1 ? p[1] : 0.0f, n > 2 ? p[2] : 0.0f, n > 3 ? p[3] : 0.0f};
}
)",
       {}},
      {"store_part", R"(// The first n lanes; nothing beyond them is touched.
static inline void store_part(float* p, vec a, long n) {
  if (n > 0) p[0] = a[0];
  if (n > 1) p[1] = a[1];
  if (n > 2) p[2] = a[2];
  if (n > 3) p[3] = a[3];
}
)",
       {}},
      {"load_strided", R"(static inline vec load_strided(const float* p, long stride) {
  return vec{p[0], p[stride], p[2 * stride], p[3 * stride]};
}
)",
       {}},
      {"splat", R"(static inline vec splat(float x) { return vec{x, x, x, x}; }
)",
       {}},
      {"fma", R"(// a * b + c; one rounding or two, as the CPU has it.
static inline vec fma(vec a, vec b, vec c) { return a * b + c; }
)",
       {}},
      {"select", R"(// a where m, else b.
static inline vec select(lanes_t m, vec a, vec b) { return (vec)(((ivec)a & m) | ((ivec)b & ~m)); }
)",
       {}},
      {"keep_where", R"(// a where m, else 0, whatever a holds there.
static inline vec keep_where(lanes_t m, vec a) { return (vec)((ivec)a & m); }
)",
       {}},
      {"less", R"(// False where either is NaN.
static inline lanes_t less(vec a, vec b) { return a < b; }
)",
       {}},
      {"less_equal", R"(// False where either is NaN.
static inline lanes_t less_equal(vec a, vec b) { return a <= b; }
)",
       {}},
      {"equal", R"(// False where either is NaN.
static inline lanes_t equal(vec a, vec b) { return a == b; }
)",
       {}},
      {"not_less", R"(// True where either is NaN.
static inline lanes_t not_less(vec a, vec b) { return ~(a < b); }
)",
       {}},
      {"min", R"(// The second operand where either is NaN.
static inline vec min(vec a, vec b) { return select(a < b, a, b); }
static inline float min(float a, float b) { return a < b ? a : b; }
)",
       {}},
      {"max", R"(// The second operand where either is NaN.
static inline vec max(vec a, vec b) { return select(a > b, a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }
)",
       {}},
      {"both", R"(static inline lanes_t both(lanes_t m, lanes_t n) { return m & n; }
)",
       {}},
      {"either", R"(static inline lanes_t either(lanes_t m, lanes_t n) { return m | n; }
)",
       {}},
      {"negation", R"(static inline lanes_t negation(lanes_t m) { return ~m; }
)",
       {}},
      {"any", R"(static inline bool any(lanes_t m) { return (m[0] | m[1] | m[2] | m[3]) != 0; }
)",
       {}},
      {"all_lanes", R"(static inline lanes_t all_lanes(bool b) { return lanes_t{-b, -b, -b, -b}; }
)",
       {}},
      {"has_nan", R"(static inline bool has_nan(vec a) { return any(a != a); }
)",
       {}},
      {"iota", R"(static inline ivec iota() { return ivec{0, 1, 2, 3}; }
)",
       {}},
      {"isplat", R"(static inline ivec isplat(int i) { return ivec{i, i, i, i}; }
)",
       {}},
      {"iless", R"(static inline lanes_t iless(ivec a, ivec b) { return a < b; }
)",
       {}},
      {"iless_equal", R"(static inline lanes_t iless_equal(ivec a, ivec b) { return a <= b; }
)",
       {}},
      {"iequal", R"(static inline lanes_t iequal(ivec a, ivec b) { return a == b; }
)",
       {}},
      {"imin", R"(static inline ivec imin(ivec a, ivec b) { return (a & (a < b)) | (b & (a >= b)); }
)",
       {}},
      {"imax", R"(static inline ivec imax(ivec a, ivec b) { return (a & (a > b)) | (b & (a <= b)); }
)",
       {}},
      {"to_real", R"(static inline vec to_real(ivec a) { return __builtin_convertvector(a, vec); }
)",
       {}},
      {"nearest", R"(// The nearest integers, halves to even, for |a| < 2^22; 0 for NaN.
static inline ivec nearest(vec a) { return ((ivec)(a + 12582912.0f) - 0x4b400000) & (a == a); }
)",
       {}},
      {"add_exponent", R"(// p * 2^n where that is neither subnormal nor beyond the greatest float.
static inline vec add_exponent(vec p, ivec n) { return (vec)((ivec)p + (n << 23)); }
)",
       {}},
      {"first", R"(static inline float first(vec a) { return a[0]; }
)",
       {}},
      {"reduce_add", R"(static inline float reduce_add(vec a) { return (a[0] + a[2]) + (a[1] + a[3]); }
)",
       {}},
      {"reduce_max", R"(// A NaN may be lost.
static inline float reduce_max(vec a) { return max(max(a[0], a[2]), max(a[1], a[3])); }
)",
       {}},
      {"swap_pairs", R"(// Lanes 1, 0, 3, 2, ..
static inline vec swap_pairs(vec a) { return __builtin_shufflevector(a, a, 1, 0, 3, 2); }
)",
       {}},
      {"transpose_block", R"(// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for i, j < 4.
static inline void transpose_block(const float* from, long from_stride, float* to, long to_stride, vec scale) {
  vec a = load(from), b = load(from + from_stride);
  vec c = load(from + 2 * from_stride), d = load(from + 3 * from_stride);
  vec ab_low = __builtin_shufflevector(a, b, 0, 4, 1, 5), ab_high = __builtin_shufflevector(a, b, 2, 6, 3, 7);
  vec cd_low = __builtin_shufflevector(c, d, 0, 4, 1, 5), cd_high = __builtin_shufflevector(c, d, 2, 6, 3, 7);
  store(to, scale * __builtin_shufflevector(ab_low, cd_low, 0, 1, 4, 5));
  store(to + to_stride, scale * __builtin_shufflevector(ab_low, cd_low, 2, 3, 6, 7));
  store(to + 2 * to_stride, scale * __builtin_shufflevector(ab_high, cd_high, 0, 1, 4, 5));
  store(to + 3 * to_stride, scale * __builtin_shufflevector(ab_high, cd_high, 2, 3, 6, 7));
}
)",
       {}},
  };
  isa.ops = table({ops, integer_ops(), exponentials(Exponent::integer), scalar_ops()});
  return isa;
}

}  // namespace attune
