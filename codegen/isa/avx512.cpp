// AVX-512 (F, VL, DQ, BW): 16 lanes, 32 registers.
#include "isa/tables.h"

namespace attune {

Isa avx512_isa() {
  Isa isa;
  isa.name = "avx512";
  isa.lanes = 16;
  isa.registers = 32;
  // A server core with AVX-512 and AMX (Sapphire Rapids and later): rates near those that `attune tune` measured of one.
  isa.machine = {.fma = 200, .loads = 155, .broadcasts = 195, .fma_latency = 400, .l1_bytes = 48 * 1024, .l2_bytes = 2048 * 1024, .l2_rate = 5000, .memory_rate = 1000, .asked_rate = 800, .tile_cycles = 2000, .exponential = 900};
  isa.headers = "#include <immintrin.h>\n";
  const Pragmas around = pragmas("avx512f,avx512vl,avx512dq,avx512bw", false);
  isa.open = around.open;
  isa.close = around.close;
  isa.cpu_test = ATTUNE_X86_TEST(__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw"));
  isa.flags = {"-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"};
  std::vector<OpText> ops = {
      {"vec", "using vec = __m512;\n", {}},
      {"ivec", "typedef int ivec __attribute__((vector_size(64)));\n", {}},
      {"lanes_t", "using lanes_t = __mmask16;  // a bit per lane\n", {}},
      {"every", R"(// The plain forms of some intrinsics make GCC 12 warn of an uninitialized value in its own header.
enum : lanes_t { every = 0xffff };
)",
       {}},
      {"load", R"(static inline vec load(const float* p) { return _mm512_loadu_ps(p); }
)",
       {}},
      {"store", R"(static inline void store(float* p, vec a) { _mm512_storeu_ps(p, a); }
)",
       {}},
      {"load_part", R"(// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_part(const float* p, long n) {
  return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}
)",
       {}},
      {"store_part", R"(// The first n lanes; nothing beyond them is touched.
static inline void store_part(float* p, vec a, long n) {
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}
)",
       {}},
      {"load_strided", R"(static inline vec load_strided(const float* p, long stride) {
  return _mm512_setr_ps(p[0], p[stride], p[2 * stride], p[3 * stride],
      p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride],
      p[8 * stride], p[9 * stride], p[10 * stride], p[11 * stride],
      p[12 * stride], p[13 * stride], p[14 * stride], p[15 * stride]);
}
)",
       {}},
      load_strided_part(),
      {"splat", R"(static inline vec splat(float x) { return _mm512_set1_ps(x); }
)",
       {}},
      {"fma", R"(// a * b + c with one rounding.
static inline vec fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }
)",
       {}},
      {"fma_unless", R"(// c where m, else a * b + c.
static inline vec fma_unless(lanes_t m, vec a, vec b, vec c) {
  return _mm512_mask3_fmadd_ps(a, b, c, (lanes_t)~m);
}
)",
       {}},
      {"min", R"(// The second operand where either is NaN.
static inline vec min(vec a, vec b) { return _mm512_maskz_min_ps(every, a, b); }
static inline float min(float a, float b) { return a < b ? a : b; }
)",
       {}},
      {"max", R"(// The second operand where either is NaN.
static inline vec max(vec a, vec b) { return _mm512_maskz_max_ps(every, a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }
)",
       {}},
      {"select", R"(// a where m, else b.
static inline vec select(lanes_t m, vec a, vec b) { return _mm512_mask_blend_ps(m, b, a); }
)",
       {}},
      {"keep_where", R"(// a where m, else 0, whatever a holds there.
static inline vec keep_where(lanes_t m, vec a) { return _mm512_maskz_mov_ps(m, a); }
)",
       {}},
      {"less", R"(// False where either is NaN.
static inline lanes_t less(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }
)",
       {}},
      {"less_equal", R"(// False where either is NaN.
static inline lanes_t less_equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }
)",
       {}},
      {"equal", R"(// False where either is NaN.
static inline lanes_t equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }
)",
       {}},
      {"not_less", R"(// True where either is NaN.
static inline lanes_t not_less(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ); }
)",
       {}},
      {"both", R"(static inline lanes_t both(lanes_t m, lanes_t n) { return m & n; }
)",
       {}},
      {"either", R"(static inline lanes_t either(lanes_t m, lanes_t n) { return m | n; }
)",
       {}},
      {"negation", R"(static inline lanes_t negation(lanes_t m) { return (lanes_t)~m; }
)",
       {}},
      {"any", R"(static inline bool any(lanes_t m) { return m != 0; }
)",
       {}},
      {"all_lanes", R"(static inline lanes_t all_lanes(bool b) { return (lanes_t)-b; }
)",
       {}},
      {"has_nan", R"(static inline bool has_nan(vec a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0; }
)",
       {}},
      {"iota", R"(static inline ivec iota() { return ivec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
)",
       {}},
      {"isplat", R"(static inline ivec isplat(int i) { return (ivec)_mm512_set1_epi32(i); }
)",
       {}},
      {"iless", R"(static inline lanes_t iless(ivec a, ivec b) {
  return _mm512_cmplt_epi32_mask((__m512i)a, (__m512i)b);
}
)",
       {}},
      {"iless_equal", R"(static inline lanes_t iless_equal(ivec a, ivec b) {
  return _mm512_cmple_epi32_mask((__m512i)a, (__m512i)b);
}
)",
       {}},
      {"iequal", R"(static inline lanes_t iequal(ivec a, ivec b) {
  return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}
)",
       {}},
      {"imin", R"(static inline ivec imin(ivec a, ivec b) {
  return (ivec)_mm512_maskz_min_epi32(every, (__m512i)a, (__m512i)b);
}
)",
       {}},
      {"imax", R"(static inline ivec imax(ivec a, ivec b) {
  return (ivec)_mm512_maskz_max_epi32(every, (__m512i)a, (__m512i)b);
}
)",
       {}},
      {"to_real", R"(static inline vec to_real(ivec a) { return _mm512_maskz_cvtepi32_ps(every, (__m512i)a); }
)",
       {}},
      {"fraction", R"(// a less the greatest integer that is not above it, rounded down; 0 for +-inf.
static inline vec fraction(vec a) { return _mm512_maskz_reduce_ps(every, a, 9); }
)",
       {}},
      {"scale2", R"(// p * 2^floor(n); NaN if either is.
static inline vec scale2(vec p, vec n) { return _mm512_maskz_scalef_ps(every, p, n); }
)",
       {}},
      {"first", R"(static inline float first(vec a) { return _mm512_cvtss_f32(a); }
)",
       {}},
      {"reduce_add", R"(static inline float reduce_add(vec a) {
  __m256 low = _mm512_maskz_extractf32x8_ps(0xff, a, 0);
  __m256 high = _mm512_maskz_extractf32x8_ps(0xff, a, 1);
  __m256 b = _mm256_add_ps(low, high);
  __m128 c = _mm_add_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
  c = _mm_add_ps(c, _mm_movehl_ps(c, c));
  return _mm_cvtss_f32(_mm_add_ss(c, _mm_movehdup_ps(c)));
}
)",
       {}},
      {"reduce_max", R"(// A NaN may be lost.
static inline float reduce_max(vec a) {
  __m256 low = _mm512_maskz_extractf32x8_ps(0xff, a, 0);
  __m256 high = _mm512_maskz_extractf32x8_ps(0xff, a, 1);
  __m256 b = _mm256_max_ps(low, high);
  __m128 c = _mm_max_ps(_mm256_castps256_ps128(b), _mm256_extractf128_ps(b, 1));
  c = _mm_max_ps(c, _mm_movehl_ps(c, c));
  return _mm_cvtss_f32(_mm_max_ss(c, _mm_movehdup_ps(c)));
}
)",
       {}},
      {"swap_pairs", R"(// Lanes 1, 0, 3, 2, ..
static inline vec swap_pairs(vec a) { return _mm512_maskz_permute_ps(every, a, 0xb1); }
)",
       {}},
      {"load_four_columns", R"(// Lane i of a is p[i * stride], of b, c and d the next three.
static inline vec every_fourth_row(const float* p, long stride) {
  vec rows = _mm512_castps128_ps512(_mm_loadu_ps(p));
  rows = _mm512_mask_broadcast_f32x4(rows, 0x00f0, _mm_loadu_ps(p + 4 * stride));
  rows = _mm512_mask_broadcast_f32x4(rows, 0x0f00, _mm_loadu_ps(p + 8 * stride));
  return _mm512_mask_broadcast_f32x4(rows, 0xf000, _mm_loadu_ps(p + 12 * stride));
}
static inline void load_four_columns(const float* p, long stride, vec& a, vec& b, vec& c, vec& d) {
  vec row0 = every_fourth_row(p, stride), row1 = every_fourth_row(p + stride, stride);
  vec row2 = every_fourth_row(p + 2 * stride, stride);
  vec row3 = every_fourth_row(p + 3 * stride, stride);
  vec low01 = _mm512_maskz_unpacklo_ps(every, row0, row1);
  vec high01 = _mm512_maskz_unpackhi_ps(every, row0, row1);
  vec low23 = _mm512_maskz_unpacklo_ps(every, row2, row3);
  vec high23 = _mm512_maskz_unpackhi_ps(every, row2, row3);
  a = _mm512_maskz_shuffle_ps(every, low01, low23, 0x44);
  b = _mm512_maskz_shuffle_ps(every, low01, low23, 0xee);
  c = _mm512_maskz_shuffle_ps(every, high01, high23, 0x44);
  d = _mm512_maskz_shuffle_ps(every, high01, high23, 0xee);
}
)",
       {}},
      iload_four_columns(),
      {"transpose_block", R"(// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for i, j < 16,
// four columns at a time.
static inline void transpose_block(const float* from, long from_stride, float* to, long to_stride,
    vec scale) {
  for (long j = 0; j < 16; j += 4) {
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
  std::vector<OpText> powers = exponentials(Exponent::real, true);
  for (OpText& op : powers)
    if (op.name == "exp2_near") op = exp2_near_by_fraction();
  isa.ops = table({ops, integer_ops(), integer_loads(R"(static inline ivec iload_strided(const int* p, long stride) {
  return (ivec)_mm512_setr_epi32(p[0], p[stride], p[2 * stride], p[3 * stride],
      p[4 * stride], p[5 * stride], p[6 * stride], p[7 * stride],
      p[8 * stride], p[9 * stride], p[10 * stride], p[11 * stride],
      p[12 * stride], p[13 * stride], p[14 * stride], p[15 * stride]);
}
)"), powers, scalar_ops()});
  return isa;
}

}  // namespace attune
