// AVX2 with FMA: 8 lanes, 16 registers.
#include "isa/tables.h"

namespace attune {

Isa avx2_isa() {
  Isa isa;
  isa.name = "avx2";
  isa.lanes = 8;
  isa.registers = 16;
  isa.crowded = 12;
  isa.assemble = assemble_avx2;
  // Zen 3; rates beyond L2 are low, for an L3 or memory that is shared.
  isa.machine = {.fma = 200, .loads = 200, .broadcasts = 200, .fma_latency = 400, .l1_bytes = 32 * 1024, .l2_bytes = 512 * 1024, .l2_rate = 3200, .memory_rate = 800, .asked_rate = 600, .tile_cycles = 2000, .exponential = 700};
  isa.headers = "#include <immintrin.h>\n";
  const Pragmas around = pragmas("avx2,fma", false);
  isa.open = around.open;
  isa.close = around.close;
  isa.cpu_test = ATTUNE_X86_TEST(__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma"));
  isa.flags = {"-mavx2", "-mfma"};
  std::vector<OpText> ops = {
      {"vec", "using vec = __m256;\n", {}},
      {"ivec", "typedef int ivec __attribute__((vector_size(32)));\n", {}},
      {"lanes_t", "using lanes_t = __m256;  // all bits of a lane set or none\n", {}},
      {"load", R"(static inline vec load(const float* p) { return _mm256_loadu_ps(p); }
)",
       {}},
      {"store", R"(static inline void store(float* p, vec a) { _mm256_storeu_ps(p, a); }
)",
       {}},
      {"first_lanes", R"(static inline __m256i first_lanes(long n) {
  return _mm256_cmpgt_epi32(_mm256_set1_epi32((int)n), _mm256_setr_epi32(0, 1, 2, 3, 4, 5, 6, 7));
}
)",
       {}},
      {"load_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_part(const float* p, long n) {
  return _mm256_maskload_ps(p, first_lanes(n));
}
)",
       {}},
      {"store_part", R"(// The first n lanes; nothing beyond them is touched.
static inline void store_part(float* p, vec a, long n) {
  _mm256_maskstore_ps(p, first_lanes(n), a);
}
)",
       {}},
      {"load_strided", R"(static inline vec load_strided(const float* p, long stride) {
  return _mm256_setr_ps(p[0], p[stride], p[2 * stride], p[3 * stride],
      p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride]);
}
)",
       {}},
      load_strided_part(),
      {"splat", R"(static inline vec splat(float x) { return _mm256_set1_ps(x); }
)",
       {}},
      {"fma", R"(// a * b + c with one rounding.
static inline vec fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }
)",
       {}},
      {"min", R"(// The second operand where either is NaN.
static inline vec min(vec a, vec b) { return _mm256_min_ps(a, b); }
static inline float min(float a, float b) { return a < b ? a : b; }
)",
       {}},
      {"max", R"(// The second operand where either is NaN.
static inline vec max(vec a, vec b) { return _mm256_max_ps(a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }
)",
       {}},
      {"select", R"(// a where m, else b.
static inline vec select(lanes_t m, vec a, vec b) { return _mm256_blendv_ps(b, a, m); }
)",
       {}},
      {"keep_where", R"(// a where m, else 0, whatever a holds there.
static inline vec keep_where(lanes_t m, vec a) { return _mm256_and_ps(m, a); }
)",
       {}},
      {"less", R"(// False where either is NaN.
static inline lanes_t less(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }
)",
       {}},
      {"less_equal", R"(// False where either is NaN.
static inline lanes_t less_equal(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }
)",
       {}},
      {"equal", R"(// False where either is NaN.
static inline lanes_t equal(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }
)",
       {}},
      {"not_less", R"(// True where either is NaN.
static inline lanes_t not_less(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_NLT_UQ); }
)",
       {}},
      {"both", R"(static inline lanes_t both(lanes_t m, lanes_t n) { return _mm256_and_ps(m, n); }
)",
       {}},
      {"either", R"(static inline lanes_t either(lanes_t m, lanes_t n) { return _mm256_or_ps(m, n); }
)",
       {}},
      {"all_lanes", R"(static inline lanes_t all_lanes(bool b) { return _mm256_castsi256_ps(_mm256_set1_epi32(-b)); }
)",
       {}},
      {"negation", R"(static inline lanes_t negation(lanes_t m) { return _mm256_xor_ps(m, all_lanes(true)); }
)",
       {}},
      {"any", R"(static inline bool any(lanes_t m) { return _mm256_movemask_ps(m) != 0; }
)",
       {}},
      {"has_nan", R"(static inline bool has_nan(vec a) { return any(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
)",
       {}},
      {"iota", R"(static inline ivec iota() { return ivec{0, 1, 2, 3, 4, 5, 6, 7}; }
)",
       {}},
      {"isplat", R"(static inline ivec isplat(int i) { return (ivec)_mm256_set1_epi32(i); }
)",
       {}},
      {"iless", R"(static inline lanes_t iless(ivec a, ivec b) { return (lanes_t)(a < b); }
)",
       {}},
      {"iless_equal", R"(static inline lanes_t iless_equal(ivec a, ivec b) { return (lanes_t)(a <= b); }
)",
       {}},
      {"iequal", R"(static inline lanes_t iequal(ivec a, ivec b) { return (lanes_t)(a == b); }
)",
       {}},
      {"imin", R"(static inline ivec imin(ivec a, ivec b) { return (ivec)_mm256_min_epi32((__m256i)a, (__m256i)b); }
)",
       {}},
      {"imax", R"(static inline ivec imax(ivec a, ivec b) { return (ivec)_mm256_max_epi32((__m256i)a, (__m256i)b); }
)",
       {}},
      {"to_real", R"(static inline vec to_real(ivec a) { return _mm256_cvtepi32_ps((__m256i)a); }
)",
       {}},
      {"nearest", R"(// The nearest integers, halves to even; the least integer for NaN and beyond the range.
static inline ivec nearest(vec a) { return (ivec)_mm256_cvtps_epi32(a); }
)",
       {}},
      {"add_exponent", R"(// p * 2^n where that is neither subnormal nor beyond the greatest float.
static inline vec add_exponent(vec p, ivec n) { return (vec)((ivec)p + (n << 23)); }
)",
       {}},
      {"power_of_eighths", R"(// 2^(n / 8), n being the low bits of a: its last three choose, the rest is an exponent.
static inline vec power_of_eighths(vec a) {
  const __m256i powers = _mm256_setr_epi32()" + eighths() + R"();
  return (vec)((ivec)_mm256_permutevar8x32_epi32(powers, (__m256i)a) + ((ivec)a << 20));
}
)",
       {}},
      {"first", R"(static inline float first(vec a) { return _mm256_cvtss_f32(a); }
)",
       {}},
      {"reduce_add", R"(static inline float reduce_add(vec a) {
  __m128 b = _mm_add_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_add_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_add_ss(b, _mm_movehdup_ps(b)));
}
)",
       {}},
      {"reduce_max", R"(// A NaN may be lost.
static inline float reduce_max(vec a) {
  __m128 b = _mm_max_ps(_mm256_castps256_ps128(a), _mm256_extractf128_ps(a, 1));
  b = _mm_max_ps(b, _mm_movehl_ps(b, b));
  return _mm_cvtss_f32(_mm_max_ss(b, _mm_movehdup_ps(b)));
}
)",
       {}},
      {"swap_pairs", R"(// Lanes 1, 0, 3, 2, ..
static inline vec swap_pairs(vec a) { return _mm256_permute_ps(a, 0xb1); }
)",
       {}},
      {"load_four_columns", R"(// Lane i of a is p[i * stride], of b, c and d the next three.
static inline vec row_and_fourth_next(const float* p, long stride) {
  vec row = _mm256_castps128_ps256(_mm_loadu_ps(p));
  return _mm256_insertf128_ps(row, _mm_loadu_ps(p + 4 * stride), 1);
}
static inline void load_four_columns(const float* p, long stride, vec& a, vec& b, vec& c, vec& d) {
  vec row0 = row_and_fourth_next(p, stride), row1 = row_and_fourth_next(p + stride, stride);
  vec row2 = row_and_fourth_next(p + 2 * stride, stride);
  vec row3 = row_and_fourth_next(p + 3 * stride, stride);
  vec low01 = _mm256_unpacklo_ps(row0, row1), high01 = _mm256_unpackhi_ps(row0, row1);
  vec low23 = _mm256_unpacklo_ps(row2, row3), high23 = _mm256_unpackhi_ps(row2, row3);
  a = _mm256_shuffle_ps(low01, low23, 0x44);
  b = _mm256_shuffle_ps(low01, low23, 0xee);
  c = _mm256_shuffle_ps(high01, high23, 0x44);
  d = _mm256_shuffle_ps(high01, high23, 0xee);
}
)",
       {}},
      iload_four_columns(),
      {"transpose_block", R"(// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for i, j < 8,
// four columns at a time.
static inline void transpose_block(const float* from, long from_stride, float* to, long to_stride,
    vec scale) {
  for (long j = 0; j < 8; j += 4) {
    vec a, b, c, d;
    load_four_columns(from + j, from_stride, a, b, c, d);
    store(to + j * to_stride, scale * a);
    store(to + (j + 1) * to_stride, scale * b);
    store(to + (j + 2) * to_stride, scale * c);
    store(to + (j + 3) * to_stride, scale * d);
  }
}
)",
       {}},
  };
  isa.ops = table({ops, {fma_unless()}, integer_ops(), integer_loads(R"(static inline ivec iload_strided(const int* p, long stride) {
  return (ivec)_mm256_setr_epi32(p[0], p[stride], p[2 * stride], p[3 * stride],
      p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride]);
}
)"), exponentials(Exponent::eighths, true), scalar_ops()});
  return isa;
}

}  // namespace attune
