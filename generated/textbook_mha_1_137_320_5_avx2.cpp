// textbook_mha_1_137_320_5 for avx2: 8 floats a vector, 16 registers. Made by
//   attune gen 'textbook_mha<1,137,320,5>' --isa portable,avx2,avx512
// One call takes 124.3 MFLOP on 1.989 MB of inputs, outputs and weights.
//
// The spec is textbook_mha<1,137,320,5>:
//   // x [batch, seq, model] -> [batch, seq, model], causal, with RoPE on queries and keys.
//   template <long Batch, long Seq, long Model, long Heads>
//   constexpr auto textbook_mha = [] {
//     auto x = input<Batch, Seq, Model>("x");
//     auto q = rope(split_heads<Heads>(linear<Model>(x, "wq")));  // [batch, heads, seq, head_dim]
//     auto k = rope(split_heads<Heads>(linear<Model>(x, "wk")));
//     auto v = split_heads<Heads>(linear<Model>(x, "wv"));
//     auto s = matmul(q, transpose(k)) / sqrt_of<Model / Heads>;
//     auto p = softmax(mask(s, causal));
//     return linear<Model>(merge_heads(matmul(p, v)), "wo");
//   };
//
// What was decided:
// - angles_once: cosines and sines of angles, made by pack_weights, writes angles (34.2 kB).
// - project_wq_wk_wv: 137 rows of 320 by wq (320 columns), wk (320 columns) and wv (320 columns),
//   packed in 60 panels of 16 columns (20 kB), 1/2 of its rows an item; tiles of 6 rows x 16
//   columns: 12 of 16 registers accumulate, a step is 12 fma on 8 loads; tiles ask memory for the
//   next panel.
// - attention: 5 times 137 rows against 137 columns, 128 at a time: their scores lie in a worker's
//   25.2 kB and nowhere else. 5 blocks of 24 rows, score tiles of 4 columns x 24 lanes: 12 of 16
//   registers accumulate, a step is 12 fma on 7 loads. 1 block of 17 rows, score tiles of 4 columns
//   x 24 lanes: 12 of 16 registers accumulate, a step is 12 fma on 7 loads. Score tiles ask memory
//   for the next head, the next rows and the results' place. Whole tiles of removed pairs are
//   skipped; tiles that keep all pairs test none. Value tiles of 3 rows x 32 columns: 12 of 16
//   registers accumulate, a step is 12 fma on 7 loads.
// - project_wo: 137 rows of 320 by wo (320 columns), packed in 20 panels of 16 columns (20 kB), 1/4
//   of its rows an item; tiles of 6 rows x 16 columns: 12 of 16 registers accumulate, a step is 12
//   fma on 8 loads; tiles ask memory for the next panel.
#include "textbook_mha_1_137_320_5.h"

#include <immintrin.h>

#ifdef __FAST_MATH__
  #error "compile this file without -ffast-math: it relies on NaN, infinities and the order of sums"
#endif

#ifdef __clang__
  #pragma clang diagnostic push
  #pragma clang diagnostic ignored "-Wunused-function"
  #pragma clang fp contract(off)
  #pragma clang attribute push( \
      __attribute__((target("avx2,fma"))), apply_to = function)
#else
  #pragma GCC push_options
  #pragma GCC target("avx2,fma")
  #pragma GCC optimize("fp-contract=off")
#endif

namespace textbook_mha_1_137_320_5_avx2 {

namespace {

using vec = __m256;
typedef int ivec __attribute__((vector_size(32)));
using lanes_t = __m256;  // all bits of a lane set or none
static inline vec load(const float* p) { return _mm256_loadu_ps(p); }
static inline void store(float* p, vec a) { _mm256_storeu_ps(p, a); }
static inline vec splat(float x) { return _mm256_set1_ps(x); }

// a * b + c with one rounding.
static inline vec fma(vec a, vec b, vec c) { return _mm256_fmadd_ps(a, b, c); }

// The second operand where either is NaN.
static inline vec min(vec a, vec b) { return _mm256_min_ps(a, b); }
static inline float min(float a, float b) { return a < b ? a : b; }

// The second operand where either is NaN.
static inline vec max(vec a, vec b) { return _mm256_max_ps(a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }

// a where m, else b.
static inline vec select(lanes_t m, vec a, vec b) { return _mm256_blendv_ps(b, a, m); }

// a where m, else 0, whatever a holds there.
static inline vec keep_where(lanes_t m, vec a) { return _mm256_and_ps(m, a); }

// False where either is NaN.
static inline lanes_t less(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_LT_OQ); }

// False where either is NaN.
static inline lanes_t less_equal(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_LE_OQ); }

// False where either is NaN.
static inline lanes_t equal(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_EQ_OQ); }

// True where either is NaN.
static inline lanes_t not_less(vec a, vec b) { return _mm256_cmp_ps(a, b, _CMP_NLT_UQ); }

static inline lanes_t both(lanes_t m, lanes_t n) { return _mm256_and_ps(m, n); }
static inline lanes_t either(lanes_t m, lanes_t n) { return _mm256_or_ps(m, n); }
static inline lanes_t all_lanes(bool b) { return _mm256_castsi256_ps(_mm256_set1_epi32(-b)); }
static inline lanes_t negation(lanes_t m) { return _mm256_xor_ps(m, all_lanes(true)); }
static inline bool any(lanes_t m) { return _mm256_movemask_ps(m) != 0; }
static inline bool has_nan(vec a) { return any(_mm256_cmp_ps(a, a, _CMP_UNORD_Q)); }
static inline ivec iota() { return ivec{0, 1, 2, 3, 4, 5, 6, 7}; }
static inline ivec isplat(int i) { return (ivec)_mm256_set1_epi32(i); }
static inline lanes_t iless_equal(ivec a, ivec b) { return (lanes_t)(a <= b); }
static inline lanes_t iequal(ivec a, ivec b) { return (lanes_t)(a == b); }
static inline vec to_real(ivec a) { return _mm256_cvtepi32_ps((__m256i)a); }

// The nearest integers, halves to even; the least integer for NaN and beyond the range.
static inline ivec nearest(vec a) { return (ivec)_mm256_cvtps_epi32(a); }

// p * 2^n where that is neither subnormal nor beyond the greatest float.
static inline vec add_exponent(vec p, ivec n) { return (vec)((ivec)p + (n << 23)); }

// 2^(n / 8), n being the low bits of a: its last three choose, the rest is an exponent.
static inline vec power_of_eighths(vec a) {
  const __m256i powers = _mm256_setr_epi32(0x3f800000, 0x3f7b95c2, 0x3f7837f0, 0x3f75fed7,
      0x3f7504f3, 0x3f75672a, 0x3f7744fd, 0x3f7ac0c7);
  return (vec)((ivec)_mm256_permutevar8x32_epi32(powers, (__m256i)a) + ((ivec)a << 20));
}

// Lanes 1, 0, 3, 2, ..
static inline vec swap_pairs(vec a) { return _mm256_permute_ps(a, 0xb1); }

// Lane i of a is p[i * stride], of b, c and d the next three.
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

// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for i, j < 8,
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

// c where m, else a * b + c.
static inline vec fma_unless(lanes_t m, vec a, vec b, vec c) { return select(m, c, fma(a, b, c)); }

// floor(log2 x), of a normal x > 0.
static inline vec exponent_of(vec x) { return to_real((ivec)x >> 23) - splat(127.0f); }

// 2^-exponent_of(x), for x < 2^127.
static inline vec inverse_power(vec x) {
  return (vec)(isplat(0x7f000000) - ((ivec)x & isplat(0x7f800000)));
}

static inline lanes_t is_minus_zero(vec a) { return iequal((ivec)a, isplat(-0x7fffffff - 1)); }

// e^x for x <= 0, within a relative 2e-7 + 3e-9 |x|. NaN stays NaN. Exactly 0 below -87.3365, where
// the result would be subnormal, and at -inf.
static inline vec exp_nonpositive(vec x) {
  ivec n = nearest(x * splat(1.44269502f));
  vec r = fma(to_real(n), splat(-0.693147182f), x);
  vec p = splat(0.00828973018f);
  p = fma(p, r, splat(0.0418978557f));
  p = fma(p, r, splat(0.166676477f));
  p = fma(p, r, splat(0.499991506f));
  p = fma(p, r, splat(0.999999702f));
  p = fma(p, r, splat(1.0f));
  return keep_where(not_less(x, splat(-87.3365021f)), add_exponent(p, n));
}

// Read where they are used, which no compiler may change: sums of a tile hold most registers.
static inline const float* exp2_near_constants() {
  static const float constants[] = {-127.0f, 127.0f, 1572864.0f, 0.055488959f, 0.240257517f,
      0.693147242f};
  const float* c = constants;
  asm(""
      : "+r"(c));
  return c;
}

// 2^x within a relative 2e-7. NaN stays NaN, -inf gives 0; a result below the least normal float is
// 0 or subnormal, one above 2^127 is that or more.
static inline vec exp2_near(vec x) {
  const float* c = exp2_near_constants();
  x = max(splat(c[0]), min(splat(c[1]), x));
  vec t = x + splat(c[2]);
  vec r = x - (t - splat(c[2]));
  vec s = power_of_eighths(t);
  vec p = fma(splat(c[3]), r, splat(c[4]));
  p = fma(p, r, splat(c[5]));
  return fma(p * r, s, s);
}

// A score becomes its weight and joins the total.
static inline void exp2_near_in_place(float* score, float* total) {
  vec w = exp2_near(load(score));
  store(score, w);
  store(total, load(total) + w);
}

// 2^x for x <= 0 within a relative 2e-7. NaN stays NaN. Exactly 0 below -126, where the result
// would be subnormal, and at -inf.
static inline vec exp2_nonpositive(vec x) {
  ivec n = nearest(x);
  vec r = x - to_real(n);
  vec p = splat(0.00132692605f);
  p = fma(p, r, splat(0.00967129972f));
  p = fma(p, r, splat(0.055507116f));
  p = fma(p, r, splat(0.240222469f));
  p = fma(p, r, splat(0.693147004f));
  p = fma(p, r, splat(1.0f));
  return keep_where(not_less(x, splat(-126.0f)), add_exponent(p, n));
}

// Subnormals count as zero, rounding to nearest, no traps. Returns the state before.
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

static inline void restore_float_state(unsigned before) {
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

static inline void prefetch_l2(const float* p) { __builtin_prefetch(p, 0, 2); }

static inline long smaller(long a, long b) { return b < a ? b : a; }
static inline long larger(long a, long b) { return b > a ? b : a; }

// amplitude * cos and sin of the angles of a row's pairs, sines with the sign of their place. In
// double, rounded once; the angle is taken from the nearest multiple of pi/2, exactly up to 2^27 of
// them, and the polynomials are those of fdlibm.
template <long pairs, bool neighbours>
static inline void turn(float* cosines, float* sines, const double* angle, double amplitude) {
  double c[pairs], s[pairs];
  for (long i = 0; i < pairs; ++i) {
    const double shifted = angle[i] * 0x1.45f306dc9c883p-1 + 0x1.8p+52;
    const double quarters = shifted - 0x1.8p+52;
    unsigned long long quarter;
    __builtin_memcpy(&quarter, &shifted, 8);
    const double near = angle[i] - quarters * 0x1.921fb5p+0 - quarters * 0x1.110b46p-26;
    const double r = near - quarters * 0x1.1a62633145c07p-54;
    const double z = r * r, zz = z * z;
    const double s0 = -0x1.5555555555549p-3 + z * 0x1.111111110f8a6p-7;
    const double s1 = -0x1.a01a019c161d5p-13 + z * 0x1.71de357b1fe7dp-19;
    const double s2 = -0x1.ae5e68a2b9cebp-26 + z * 0x1.5d93a5acfd57cp-33;
    const double c0 = 0x1.555555555554cp-5 - z * 0x1.6c16c16c15177p-10;
    const double c1 = 0x1.a01a019cb159p-16 - z * 0x1.27e4f809c52adp-22;
    const double c2 = 0x1.1ee9ebdb4b1c4p-29 - z * 0x1.8fae9be8838d4p-37;
    const double sine = r + r * z * (s0 + zz * (s1 + zz * s2));
    const double cosine = 1 - 0.5 * z + zz * (c0 + zz * (c1 + zz * c2));
    const double x = quarter & 1 ? sine : cosine, y = quarter & 1 ? cosine : sine;
    c[i] = (quarter + 1) & 2 ? -x : x;
    s[i] = quarter & 2 ? -y : y;
  }
  for (long i = 0; i < pairs; ++i) {
    const long a = neighbours ? 2 * i : i, b = neighbours ? 2 * i + 1 : i + pairs;
    cosines[a] = cosines[b] = (float)(amplitude * c[i]);
    sines[b] = (float)(amplitude * s[i]);
    sines[a] = -sines[b];
  }
}

// Where everything lies. Below, c0 and c1 count the outer dimensions, row and col the inner ones.
struct Memory {
  const float* x;
  float* out;
  const float* angles;  // packed
  float* wq_out;        // in the workspace
  float* wk_out;        // in the workspace
  float* wv_out;        // in the workspace
  float* heads;         // in the workspace
  const float* packed;
  float* local;  // of worker 0; the others' follow
};

// A worker's memory: a block of rows, one a lane, against a block of columns.
struct attention_memory {
  float rows[1536];       // [64][24], scaled, in units of log 2
  float scores[3072];     // [128][24]; weights once they are known
  float peak[24];         // of each row, the score that the others are compared with
  float total[24];        // and the sum of its weights
  float carry[24];        // what its older sums are multiplied by, at the end by what
  float block_peak[24];   // the greatest score in the block of columns
  float block_total[24];  // and the sum of the block's weights
  float shift[24];        // -peak, where the rows' accumulators start
  float kept[24];         // 1 where the safe path found a pair that counts
  float holes[144];       // [128]: 1 for a column with one; then how many come before the first
  float fast[1536];       // [24][64], the results that it came to replace
};

// Step k of 6 rows x 16 columns.
template <int k>
[[gnu::always_inline]] static inline void project_wq_wk_wv_step_6x16(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s10, vec& s11, vec& s20, vec& s21, vec& s30,
    vec& s31, vec& s40, vec& s41, vec& s50, vec& s51) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 16 * k);
  const vec b1 = load(vectors + 16 * k + 8);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  const vec a1 = splat(scalars[k + 320]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  const vec a2 = splat(scalars[k + 640]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  const vec a3 = splat(scalars[k + 960]);
  s30 = fma(a3, b0, s30);
  s31 = fma(a3, b1, s31);
  const vec a4 = splat(scalars[k + 1280]);
  s40 = fma(a4, b0, s40);
  s41 = fma(a4, b1, s41);
  const vec a5 = splat(scalars[k + 1600]);
  s50 = fma(a5, b0, s50);
  s51 = fma(a5, b1, s51);
#else
  asm volatile(
      "vmovups 64*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 64*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s01]\n\t"
      "vbroadcastss 4*%c[k]+1280(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s11]\n\t"
      "vbroadcastss 4*%c[k]+2560(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s21]\n\t"
      "vbroadcastss 4*%c[k]+3840(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s30]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s31]\n\t"
      "vbroadcastss 4*%c[k]+5120(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s40]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s41]\n\t"
      "vbroadcastss 4*%c[k]+6400(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s50]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s51]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01),
      [s10] "+x"(s10), [s11] "+x"(s11),
      [s20] "+x"(s20), [s21] "+x"(s21),
      [s30] "+x"(s30), [s31] "+x"(s31),
      [s40] "+x"(s40), [s41] "+x"(s41),
      [s50] "+x"(s50), [s51] "+x"(s51)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 6 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wq_tile_6x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_6x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wq_out_at = m.wq_out + 8768 * group + 64 * row + n;
  const float* angles_at = m.angles + 64 * row + n;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8768));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8832));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8896));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8960));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 9024));
  store(wq_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 9088));
  store(wq_out_at + 8, s01 * load(angles_at + 8) + swap_pairs(s01) * load(angles_at + 8776));
  store(wq_out_at + 72, s11 * load(angles_at + 72) + swap_pairs(s11) * load(angles_at + 8840));
  store(wq_out_at + 136, s21 * load(angles_at + 136) + swap_pairs(s21) * load(angles_at + 8904));
  store(wq_out_at + 200, s31 * load(angles_at + 200) + swap_pairs(s31) * load(angles_at + 8968));
  store(wq_out_at + 264, s41 * load(angles_at + 264) + swap_pairs(s41) * load(angles_at + 9032));
  store(wq_out_at + 328, s51 * load(angles_at + 328) + swap_pairs(s51) * load(angles_at + 9096));
}

// Step k of 5 rows x 16 columns.
template <int k>
[[gnu::always_inline]] static inline void project_wq_wk_wv_step_5x16(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s10, vec& s11, vec& s20, vec& s21, vec& s30,
    vec& s31, vec& s40, vec& s41) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 16 * k);
  const vec b1 = load(vectors + 16 * k + 8);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  const vec a1 = splat(scalars[k + 320]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  const vec a2 = splat(scalars[k + 640]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  const vec a3 = splat(scalars[k + 960]);
  s30 = fma(a3, b0, s30);
  s31 = fma(a3, b1, s31);
  const vec a4 = splat(scalars[k + 1280]);
  s40 = fma(a4, b0, s40);
  s41 = fma(a4, b1, s41);
#else
  asm volatile(
      "vmovups 64*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 64*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s01]\n\t"
      "vbroadcastss 4*%c[k]+1280(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s11]\n\t"
      "vbroadcastss 4*%c[k]+2560(%[scalars]), %%ymm11\n\t"
      "vfmadd231ps %%ymm15, %%ymm11, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm11, %[s21]\n\t"
      "vbroadcastss 4*%c[k]+3840(%[scalars]), %%ymm10\n\t"
      "vfmadd231ps %%ymm15, %%ymm10, %[s30]\n\t"
      "vfmadd231ps %%ymm14, %%ymm10, %[s31]\n\t"
      "vbroadcastss 4*%c[k]+5120(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s40]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s41]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01),
      [s10] "+x"(s10), [s11] "+x"(s11),
      [s20] "+x"(s20), [s21] "+x"(s21),
      [s30] "+x"(s30), [s31] "+x"(s31),
      [s40] "+x"(s40), [s41] "+x"(s41)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 5 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wq_tile_5x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_5x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wq_out_at = m.wq_out + 8768 * group + 64 * row + n;
  const float* angles_at = m.angles + 64 * row + n;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8768));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8832));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8896));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8960));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 9024));
  store(wq_out_at + 8, s01 * load(angles_at + 8) + swap_pairs(s01) * load(angles_at + 8776));
  store(wq_out_at + 72, s11 * load(angles_at + 72) + swap_pairs(s11) * load(angles_at + 8840));
  store(wq_out_at + 136, s21 * load(angles_at + 136) + swap_pairs(s21) * load(angles_at + 8904));
  store(wq_out_at + 200, s31 * load(angles_at + 200) + swap_pairs(s31) * load(angles_at + 8968));
  store(wq_out_at + 264, s41 * load(angles_at + 264) + swap_pairs(s41) * load(angles_at + 9032));
}

// 6 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wk_tile_6x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_6x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wk_out_at = m.wk_out + 8768 * group + 64 * row + n;
  const float* angles_at = m.angles + 64 * row + n;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8768));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8832));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8896));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8960));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 9024));
  store(wk_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 9088));
  store(wk_out_at + 8, s01 * load(angles_at + 8) + swap_pairs(s01) * load(angles_at + 8776));
  store(wk_out_at + 72, s11 * load(angles_at + 72) + swap_pairs(s11) * load(angles_at + 8840));
  store(wk_out_at + 136, s21 * load(angles_at + 136) + swap_pairs(s21) * load(angles_at + 8904));
  store(wk_out_at + 200, s31 * load(angles_at + 200) + swap_pairs(s31) * load(angles_at + 8968));
  store(wk_out_at + 264, s41 * load(angles_at + 264) + swap_pairs(s41) * load(angles_at + 9032));
  store(wk_out_at + 328, s51 * load(angles_at + 328) + swap_pairs(s51) * load(angles_at + 9096));
}

// 5 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wk_tile_5x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_5x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wk_out_at = m.wk_out + 8768 * group + 64 * row + n;
  const float* angles_at = m.angles + 64 * row + n;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8768));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8832));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8896));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8960));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 9024));
  store(wk_out_at + 8, s01 * load(angles_at + 8) + swap_pairs(s01) * load(angles_at + 8776));
  store(wk_out_at + 72, s11 * load(angles_at + 72) + swap_pairs(s11) * load(angles_at + 8840));
  store(wk_out_at + 136, s21 * load(angles_at + 136) + swap_pairs(s21) * load(angles_at + 8904));
  store(wk_out_at + 200, s31 * load(angles_at + 200) + swap_pairs(s31) * load(angles_at + 8968));
  store(wk_out_at + 264, s41 * load(angles_at + 264) + swap_pairs(s41) * load(angles_at + 9032));
}

// 6 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wv_tile_6x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_6x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
      project_wq_wk_wv_step_6x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41, s50, s51);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wv_out_at = m.wv_out + 8768 * group + 64 * row + n;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 320, s50);
  store(wv_out_at + 8, s01);
  store(wv_out_at + 72, s11);
  store(wv_out_at + 136, s21);
  store(wv_out_at + 200, s31);
  store(wv_out_at + 264, s41);
  store(wv_out_at + 328, s51);
}

// 5 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wv_tile_5x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wq_wk_wv_step_5x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
      project_wq_wk_wv_step_5x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40,
          s41);
    }
  }

  const long group = vector / 8;
  const long n = 8 * (vector % 8);

  float* wv_out_at = m.wv_out + 8768 * group + 64 * row + n;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 8, s01);
  store(wv_out_at + 72, s11);
  store(wv_out_at + 136, s21);
  store(wv_out_at + 200, s31);
  store(wv_out_at + 264, s41);
}

// An item: a slice of the rows against one panel of columns.
[[gnu::noinline]] void project_wq_wk_wv(const Memory& m, long item) {
  const long slice = item % 2;
  const long panel = item / 2;
  if (panel < 20) {
    const float* a = m.x;
    const float* w = m.packed + 5120 * panel + 17536;
    const long vector = 2 * panel;
    for (long tile = 23 * slice / 2; tile < (23 * slice + 23) / 2; ++tile) {
      if (tile < 22) {
        const long row = 6 * tile;
        wq_tile_6x16(m, a + 320 * row, w, row, vector);
      } else {
        const long row = 5 * tile + 22;
        wq_tile_5x16(m, a + 320 * row, w, row, vector);
      }
    }
  } else if (panel < 40) {
    const float* a = m.x;
    const float* w = m.packed + 5120 * panel + 17536;
    const long vector = 2 * panel - 40;
    for (long tile = 23 * slice / 2; tile < (23 * slice + 23) / 2; ++tile) {
      if (tile < 22) {
        const long row = 6 * tile;
        wk_tile_6x16(m, a + 320 * row, w, row, vector);
      } else {
        const long row = 5 * tile + 22;
        wk_tile_5x16(m, a + 320 * row, w, row, vector);
      }
    }
  } else {
    const float* a = m.x;
    const float* w = m.packed + 5120 * panel + 17536;
    const long vector = 2 * panel - 80;
    for (long tile = 23 * slice / 2; tile < (23 * slice + 23) / 2; ++tile) {
      if (tile < 22) {
        const long row = 6 * tile;
        wv_tile_6x16(m, a + 320 * row, w, row, vector);
      } else {
        const long row = 5 * tile + 22;
        wv_tile_5x16(m, a + 320 * row, w, row, vector);
      }
    }
  }
}

// 1 columns x 24 rows of scores.
[[gnu::noinline]] void attention_scores_1x24(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec a0 = splat(b[k]);
    const vec b0 = load(rows + 24 * k);
    s00 = fma(a0, b0, s00);
    const vec b1 = load(rows + 24 * k + 8);
    s01 = fma(a0, b1, s01);
    const vec b2 = load(rows + 24 * k + 16);
    s02 = fma(a0, b2, s02);
  }

  store(scores, s00);

  store(block_peak, max(load(block_peak), s00));

  store(scores + 8, s01);

  store(block_peak + 8, max(load(block_peak + 8), s01));

  store(scores + 16, s02);

  store(block_peak + 16, max(load(block_peak + 16), s02));
}

// 1 columns x 8 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_1x8_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);

  store(block_peak, max(load(block_peak), x0_0));
}

// 1 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_1x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec a0 = splat(b[k]);
    const vec b0 = load(rows + 24 * k);
    s00 = fma(a0, b0, s00);
    const vec b1 = load(rows + 24 * k + 8);
    s01 = fma(a0, b1, s01);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);

  store(block_peak, max(load(block_peak), x0_0));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);

  store(block_peak + 8, max(load(block_peak + 8), x0_1));
}

// 1 columns x 24 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_1x24_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec a0 = splat(b[k]);
    const vec b0 = load(rows + 24 * k);
    s00 = fma(a0, b0, s00);
    const vec b1 = load(rows + 24 * k + 8);
    s01 = fma(a0, b1, s01);
    const vec b2 = load(rows + 24 * k + 16);
    s02 = fma(a0, b2, s02);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);

  store(block_peak, max(load(block_peak), x0_0));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);

  store(block_peak + 8, max(load(block_peak + 8), x0_1));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);

  store(block_peak + 16, max(load(block_peak + 16), x0_2));
}

// 1 columns x 24 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_1x24(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 1; ++i) {
        store(scores + 24 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_1x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_1x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_1x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
}

// Step k of 4 rows x 24 columns.
template <int k>
[[gnu::always_inline]] static inline void attention_scores_step_4x24(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s02, vec& s10, vec& s11, vec& s12, vec& s20,
    vec& s21, vec& s22, vec& s30, vec& s31, vec& s32) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 24 * k);
  const vec b1 = load(vectors + 24 * k + 8);
  const vec b2 = load(vectors + 24 * k + 16);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  s02 = fma(a0, b2, s02);
  const vec a1 = splat(scalars[k + 64]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  s12 = fma(a1, b2, s12);
  const vec a2 = splat(scalars[k + 128]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  s22 = fma(a2, b2, s22);
  const vec a3 = splat(scalars[k + 192]);
  s30 = fma(a3, b0, s30);
  s31 = fma(a3, b1, s31);
  s32 = fma(a3, b2, s32);
#else
  asm volatile(
      "vmovups 96*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 96*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vmovups 96*%c[k]+64(%[vectors]), %%ymm13\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s01]\n\t"
      "vfmadd231ps %%ymm13, %%ymm12, %[s02]\n\t"
      "vbroadcastss 4*%c[k]+256(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s11]\n\t"
      "vfmadd231ps %%ymm13, %%ymm12, %[s12]\n\t"
      "vbroadcastss 4*%c[k]+512(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s21]\n\t"
      "vfmadd231ps %%ymm13, %%ymm12, %[s22]\n\t"
      "vbroadcastss 4*%c[k]+768(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s30]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s31]\n\t"
      "vfmadd231ps %%ymm13, %%ymm12, %[s32]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01), [s02] "+x"(s02),
      [s10] "+x"(s10), [s11] "+x"(s11), [s12] "+x"(s12),
      [s20] "+x"(s20), [s21] "+x"(s21), [s22] "+x"(s22),
      [s30] "+x"(s30), [s31] "+x"(s31), [s32] "+x"(s32)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 4 columns x 24 rows of scores.
[[gnu::noinline]] void attention_scores_4x24(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  for (long k = 0; k < 64; k += 4) {
    attention_scores_step_4x24<0>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<1>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<2>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<3>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
  }

  store(scores, s00);
  store(scores + 24, s10);
  store(scores + 48, s20);
  store(scores + 72, s30);

  store(block_peak, max(load(block_peak), max(max(s00, s10), max(s20, s30))));

  store(scores + 8, s01);
  store(scores + 32, s11);
  store(scores + 56, s21);
  store(scores + 80, s31);

  store(block_peak + 8, max(load(block_peak + 8), max(max(s01, s11), max(s21, s31))));

  store(scores + 16, s02);
  store(scores + 40, s12);
  store(scores + 64, s22);
  store(scores + 88, s32);

  store(block_peak + 16, max(load(block_peak + 16), max(max(s02, s12), max(s22, s32))));
}

// 4 columns x 8 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_4x8_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
  vec s10 = splat(0.0f);
  vec s20 = splat(0.0f);
  vec s30 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 24, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 48, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 72, x3_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), max(x2_0, x3_0))));
}

// 4 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_4x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec b1 = load(rows + 24 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 24, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 48, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 72, x3_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), max(x2_0, x3_0))));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 32, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 56, x2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  store(scores + 80, x3_1);

  store(block_peak + 8, max(load(block_peak + 8), max(max(x0_1, x1_1), max(x2_1, x3_1))));
}

// 4 columns x 24 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_4x24_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  for (long k = 0; k < 64; k += 4) {
    attention_scores_step_4x24<0>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<1>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<2>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<3>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 24, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 48, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 72, x3_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), max(x2_0, x3_0))));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 32, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 56, x2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  store(scores + 80, x3_1);

  store(block_peak + 8, max(load(block_peak + 8), max(max(x0_1, x1_1), max(x2_1, x3_1))));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 40, x1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  store(scores + 64, x2_2);
  const vec x3_2 = select(iless_equal(isplat(col + 3), row_of_lane2), s32, removed);
  store(scores + 88, x3_2);

  store(block_peak + 16, max(load(block_peak + 16), max(max(x0_2, x1_2), max(x2_2, x3_2))));
}

// 4 columns x 24 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_4x24(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 4; ++i) {
        store(scores + 24 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_4x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_4x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_4x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
}

// Scores of 24 rows become weights; the rows' state follows.
[[gnu::noinline]] void attention_weigh_24(attention_memory& local, long count, bool all) {
  const vec old0 = load(local.peak);
  const lanes_t outside0 = negation(either(not_less(splat(0x1p+40f), load(local.block_total)),
      both(not_less(splat(0x1p+120f), load(local.block_total)),
          less_equal(splat(-4.0f) * old0, exponent_of(load(local.block_total))))));
  const vec peak0 =
      select(either(all_lanes(all), outside0), max(old0, load(local.block_peak)), old0);
  store(local.peak, peak0);
  const vec shift0 = splat(0.0f) - peak0;
  store(local.shift, shift0);
  store(local.carry, exp2_nonpositive(old0 - peak0));
  vec total0 = splat(0.0f);

  const vec old1 = load(local.peak + 8);
  const lanes_t outside1 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 8)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 8)),
          less_equal(splat(-4.0f) * old1, exponent_of(load(local.block_total + 8))))));
  const vec peak1 =
      select(either(all_lanes(all), outside1), max(old1, load(local.block_peak + 8)), old1);
  store(local.peak + 8, peak1);
  const vec shift1 = splat(0.0f) - peak1;
  store(local.shift + 8, shift1);
  store(local.carry + 8, exp2_nonpositive(old1 - peak1));
  vec total1 = splat(0.0f);

  const vec old2 = load(local.peak + 16);
  const lanes_t outside2 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
          less_equal(splat(-4.0f) * old2, exponent_of(load(local.block_total + 16))))));
  const vec peak2 =
      select(either(all_lanes(all), outside2), max(old2, load(local.block_peak + 16)), old2);
  store(local.peak + 16, peak2);
  const vec shift2 = splat(0.0f) - peak2;
  store(local.shift + 16, shift2);
  store(local.carry + 16, exp2_nonpositive(old2 - peak2));
  vec total2 = splat(0.0f);

  for (long j = 0; j < count; ++j) {
    const vec w0 = exp2_near(load(local.scores + 24 * j) + shift0);
    store(local.scores + 24 * j, w0);
    total0 = total0 + w0;
    const vec w1 = exp2_near(load(local.scores + 24 * j + 8) + shift1);
    store(local.scores + 24 * j + 8, w1);
    total1 = total1 + w1;
    const vec w2 = exp2_near(load(local.scores + 24 * j + 16) + shift2);
    store(local.scores + 24 * j + 16, w2);
    total2 = total2 + w2;
  }

  store(local.block_total, total0);
  store(local.block_total + 8, total1);
  store(local.block_total + 16, total2);
}

// 4 columns x 24 rows of scores; those of the tile before, if any is late, become weights between
// the steps.
[[gnu::noinline]] void attention_late_4x24(const Memory& m, const float* rows, const float* b,
    float* scores, float* late, const float* shift, float* block_total, long c1, long row,
    long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  const long next_col = col + 2 * (row / 24 % 2);
  const long next_head = smaller(c1 + 1, 4);
  const float* next_b = m.wk_out + 8768 * next_head + 64 * next_col;
  const float* next_v = m.wv_out + 8768 * next_head + 64 * next_col;
  const long nth = 2 * (col / 4 % 12);
  const long next_row = smaller((row + nth + 113) % 137, 135);
  const float* next_a = m.wq_out + 8768 * c1 + 64 * next_row;
  const float* out = m.heads + 64 * c1 + 320 * smaller(row + nth, 135);
  if (late) {
    for (long o = 0; o < 4; ++o) {
      const long from = 16 * o;
      prefetch_l2(next_b + from);
      prefetch_l2(next_b + from + 64);
      prefetch_l2(next_v + from);
      prefetch_l2(next_v + from + 64);
      prefetch_l2(next_a + from);
      prefetch_l2(next_a + from + 64);
      prefetch_l2(out + from);
      prefetch_l2(out + from + 320);
      attention_scores_step_4x24<0>(b + from, rows + 24 * from, s00, s01, s02, s10, s11, s12, s20,
          s21, s22, s30, s31, s32);
      attention_scores_step_4x24<1>(b + from, rows + 24 * from, s00, s01, s02, s10, s11, s12, s20,
          s21, s22, s30, s31, s32);
      attention_scores_step_4x24<2>(b + from, rows + 24 * from, s00, s01, s02, s10, s11, s12, s20,
          s21, s22, s30, s31, s32);
      attention_scores_step_4x24<3>(b + from, rows + 24 * from, s00, s01, s02, s10, s11, s12, s20,
          s21, s22, s30, s31, s32);
      exp2_near_in_place(late + 24 * o, block_total);
      attention_scores_step_4x24<0>(b + from + 4, rows + 24 * from + 96, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<1>(b + from + 4, rows + 24 * from + 96, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<2>(b + from + 4, rows + 24 * from + 96, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<3>(b + from + 4, rows + 24 * from + 96, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      exp2_near_in_place(late + 24 * o + 8, block_total + 8);
      attention_scores_step_4x24<0>(b + from + 8, rows + 24 * from + 192, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<1>(b + from + 8, rows + 24 * from + 192, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<2>(b + from + 8, rows + 24 * from + 192, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<3>(b + from + 8, rows + 24 * from + 192, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      exp2_near_in_place(late + 24 * o + 16, block_total + 16);
      attention_scores_step_4x24<0>(b + from + 12, rows + 24 * from + 288, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<1>(b + from + 12, rows + 24 * from + 288, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<2>(b + from + 12, rows + 24 * from + 288, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
      attention_scores_step_4x24<3>(b + from + 12, rows + 24 * from + 288, s00, s01, s02, s10, s11,
          s12, s20, s21, s22, s30, s31, s32);
    }
  } else {
    for (long from = 0; from < 64; from += 16) {
      prefetch_l2(next_b + from);
      prefetch_l2(next_b + from + 64);
      prefetch_l2(next_v + from);
      prefetch_l2(next_v + from + 64);
      prefetch_l2(next_a + from);
      prefetch_l2(next_a + from + 64);
      prefetch_l2(out + from);
      prefetch_l2(out + from + 320);
      for (long k = from; k < from + 16; k += 4) {
        attention_scores_step_4x24<0>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21,
            s22, s30, s31, s32);
        attention_scores_step_4x24<1>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21,
            s22, s30, s31, s32);
        attention_scores_step_4x24<2>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21,
            s22, s30, s31, s32);
        attention_scores_step_4x24<3>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21,
            s22, s30, s31, s32);
      }
    }
  }

  store(scores, s00);
  store(scores + 8, s01);
  store(scores + 16, s02);
  store(scores + 24, s10);
  store(scores + 32, s11);
  store(scores + 40, s12);
  store(scores + 48, s20);
  store(scores + 56, s21);
  store(scores + 64, s22);
  store(scores + 72, s30);
  store(scores + 80, s31);
  store(scores + 88, s32);
}

// 4 columns x 24 rows of scores, less the references, become weights.
[[gnu::noinline]] void attention_weigh_4x24(float* scores, float* block_total) {
  for (long i = 0; i < 4; ++i) {
    exp2_near_in_place(scores + 24 * i, block_total);
    exp2_near_in_place(scores + 24 * i + 8, block_total + 8);
    exp2_near_in_place(scores + 24 * i + 16, block_total + 16);
  }
}

// 4 columns x 8 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_4x8_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
  vec s10 = start0;
  vec s20 = start0;
  vec s30 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 24, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 48, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 72, w3_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0);
}

// 4 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_4x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
  vec s20 = start0, s21 = start1;
  vec s30 = start0, s31 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec b1 = load(rows + 24 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 24, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 48, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 72, w3_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 32, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 56, w2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  const vec w3_1 = exp2_near(x3_1);
  store(scores + 80, w3_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1 + w2_1 + w3_1);
}

// 4 columns x 24 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_4x24_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  for (long k = 0; k < 64; k += 4) {
    attention_scores_step_4x24<0>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<1>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<2>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
    attention_scores_step_4x24<3>(b + k, rows + 24 * k, s00, s01, s02, s10, s11, s12, s20, s21, s22,
        s30, s31, s32);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 24, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 48, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 72, w3_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 32, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 56, w2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  const vec w3_1 = exp2_near(x3_1);
  store(scores + 80, w3_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1 + w2_1 + w3_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 40, w1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  const vec w2_2 = exp2_near(x2_2);
  store(scores + 64, w2_2);
  const vec x3_2 = select(iless_equal(isplat(col + 3), row_of_lane2), s32, removed);
  const vec w3_2 = exp2_near(x3_2);
  store(scores + 88, w3_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2 + w2_2 + w3_2);
}

// 4 columns x 24 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_4x24(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 4; ++i) {
        store(scores + 24 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_4x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_4x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_4x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// 1 columns x 24 rows of weights.
[[gnu::noinline]] void attention_weights_1x24(const Memory& m, const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long c1, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
  const long next_head = smaller(c1 + 1, 4);
  const float* next_b = m.wk_out + 8768 * next_head + 64 * col;
  const float* next_v = m.wv_out + 8768 * next_head + 64 * col;
  const long nth = 2 * (col % 12);
  const long next_row = smaller((row + nth + 113) % 137, 135);
  const float* next_a = m.wq_out + 8768 * c1 + 64 * next_row;
  const float* out = m.heads + 64 * c1 + 320 * smaller(row + nth, 135);
  for (long from = 0; from < 64; from += 32) {
    prefetch_l2(next_b + from);
    prefetch_l2(next_b + from + 16);
    prefetch_l2(next_b + from + 64);
    prefetch_l2(next_b + from + 80);
    prefetch_l2(next_v + from);
    prefetch_l2(next_v + from + 16);
    prefetch_l2(next_v + from + 64);
    prefetch_l2(next_v + from + 80);
    prefetch_l2(next_a + from);
    prefetch_l2(next_a + from + 16);
    prefetch_l2(next_a + from + 64);
    prefetch_l2(next_a + from + 80);
    prefetch_l2(out + from);
    prefetch_l2(out + from + 16);
    prefetch_l2(out + from + 320);
    prefetch_l2(out + from + 336);
#pragma GCC unroll 4
    for (long k = from; k < from + 32; ++k) {
      const vec a0 = splat(b[k]);
      const vec b0 = load(rows + 24 * k);
      s00 = fma(a0, b0, s00);
      const vec b1 = load(rows + 24 * k + 8);
      s01 = fma(a0, b1, s01);
      const vec b2 = load(rows + 24 * k + 16);
      s02 = fma(a0, b2, s02);
    }
  }

  const vec w0_0 = exp2_near(s00);
  store(scores, w0_0);

  store(block_total, load(block_total) + w0_0);

  const vec w0_1 = exp2_near(s01);
  store(scores + 8, w0_1);

  store(block_total + 8, load(block_total + 8) + w0_1);

  const vec w0_2 = exp2_near(s02);
  store(scores + 16, w0_2);

  store(block_total + 16, load(block_total + 16) + w0_2);
}

// 1 columns x 8 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_1x8_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 24 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);

  store(block_total, load(block_total) + w0_0);
}

// 1 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_1x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  vec s00 = start0, s01 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec a0 = splat(b[k]);
    const vec b0 = load(rows + 24 * k);
    s00 = fma(a0, b0, s00);
    const vec b1 = load(rows + 24 * k + 8);
    s01 = fma(a0, b1, s01);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);

  store(block_total, load(block_total) + w0_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);

  store(block_total + 8, load(block_total + 8) + w0_1);
}

// 1 columns x 24 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_1x24_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec a0 = splat(b[k]);
    const vec b0 = load(rows + 24 * k);
    s00 = fma(a0, b0, s00);
    const vec b1 = load(rows + 24 * k + 8);
    s01 = fma(a0, b1, s01);
    const vec b2 = load(rows + 24 * k + 16);
    s02 = fma(a0, b2, s02);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);

  store(block_total, load(block_total) + w0_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);

  store(block_total + 8, load(block_total + 8) + w0_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);

  store(block_total + 16, load(block_total + 16) + w0_2);
}

// 1 columns x 24 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_1x24(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 1; ++i) {
        store(scores + 24 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_1x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_1x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_1x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// Weights of 24 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_24(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8768 * c1 + 64 * col;
  float* late = nullptr;
  for (long j = from; j < count - 3; j += 4) {
    if (col + j < whole_end) {
      attention_late_4x24(m, local.rows, b + 64 * j, local.scores + 24 * j, late, local.shift,
          local.block_total, c1, row, col + j);
      late = local.scores + 24 * j;
    } else {
      if (late) {
        attention_weigh_4x24(late, local.block_total);
      }
      late = nullptr;
      attention_weights_in_part_4x24(b + 64 * j, local.scores + 24 * j, row, col + j, local);
    }
  }
  if (late) {
    attention_weigh_4x24(late, local.block_total);
  }
  const long rest = 4 * (count / 4);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_weights_1x24(m, local.rows, b + 64 * rest, local.scores + 24 * rest, local.shift,
          local.block_total, c1, row, col + rest);
    } else {
      attention_weights_in_part_1x24(b + 64 * rest, local.scores + 24 * rest, row, col + rest,
          local);
    }
  }
}

// Scores of 24 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_24(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8768 * c1 + 64 * col;
  for (long j = from; j < count - 3; j += 4) {
    if (col + j < whole_end) {
      attention_scores_4x24(local.rows, b + 64 * j, local.scores + 24 * j, local.block_peak);
    } else {
      attention_scores_in_part_4x24(b + 64 * j, local.scores + 24 * j, row, col + j, local);
    }
  }
  const long rest = 4 * (count / 4);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_scores_1x24(local.rows, b + 64 * rest, local.scores + 24 * rest, local.block_peak);
    } else {
      attention_scores_in_part_1x24(b + 64 * rest, local.scores + 24 * rest, row, col + rest,
          local);
    }
  }
}

// What 24 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_24(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 8, load(local.carry + 8) * load(local.total + 8));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));

  float* out = m.heads + 64 * c1 + 320 * row;
  for (long i = 0; i < 24; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 64; n += 8) {
      store(out + 320 * i + n, carry * load(out + 320 * i + n));
    }
  }
}

// Of 24 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_24(attention_memory& local, long count) {
  for (long i = 0; i < 24; i += 8) {
    const vec total = load(local.block_total + i);
    const lanes_t inside = not_less(splat(0x1p+40f), total);
    const vec rise = select(inside, splat(0.0f), exponent_of(total));
    const vec old = load(local.peak + i);
    const vec peak = old + rise;
    const vec carry = select(inside, splat(1.0f), inverse_power(total));
    store(local.peak + i, peak);
    store(local.shift + i, splat(0.0f) - peak);
    store(local.carry + i, carry);
    store(local.block_total + i, carry * total);
    if (any(negation(inside))) {
      for (long j = 0; j < count; ++j) {
        store(local.scores + i + 24 * j, carry * load(local.scores + i + 24 * j));
      }
    }
  }
}

// Weights of 24 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_24(const Memory& m, long c1, long row, long col, long from,
    long count, long whole_end, attention_memory& local, bool fresh) {
  // Too large for that: the greatest score becomes the reference.
  const lanes_t inside0 = either(not_less(splat(0x1p+40f), load(local.block_total)),
      both(not_less(splat(0x1p+120f), load(local.block_total)),
          less_equal(splat(-4.0f) * load(local.peak), exponent_of(load(local.block_total)))));
  const lanes_t inside1 = both(inside0,
      either(not_less(splat(0x1p+40f), load(local.block_total + 8)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 8)),
              less_equal(splat(-4.0f) * load(local.peak + 8),
                  exponent_of(load(local.block_total + 8))))));
  const lanes_t inside2 = both(inside1,
      either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
              less_equal(splat(-4.0f) * load(local.peak + 16),
                  exponent_of(load(local.block_total + 16))))));
  if (any(negation(inside2))) {
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    attention_scores_of_24(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_24(local, from, false);
    if (!fresh) {
      attention_carry_over_24(m, c1, row, local);
    }
    attention_weights_of_24(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_24(local, count);
  if (!fresh) {
    attention_carry_over_24(m, c1, row, local);
  }
}

// Step k of 3 rows x 32 columns.
template <int k>
[[gnu::always_inline]] static inline void attention_values_step_3x32(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s02, vec& s03, vec& s10, vec& s11, vec& s12,
    vec& s13, vec& s20, vec& s21, vec& s22, vec& s23) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec a0 = splat(scalars[24 * k]);
  const vec a1 = splat(scalars[24 * k + 1]);
  const vec a2 = splat(scalars[24 * k + 2]);
  const vec b0 = load(vectors + 64 * k);
  s00 = fma(a0, b0, s00);
  s10 = fma(a1, b0, s10);
  s20 = fma(a2, b0, s20);
  const vec b1 = load(vectors + 64 * k + 8);
  s01 = fma(a0, b1, s01);
  s11 = fma(a1, b1, s11);
  s21 = fma(a2, b1, s21);
  const vec b2 = load(vectors + 64 * k + 16);
  s02 = fma(a0, b2, s02);
  s12 = fma(a1, b2, s12);
  s22 = fma(a2, b2, s22);
  const vec b3 = load(vectors + 64 * k + 24);
  s03 = fma(a0, b3, s03);
  s13 = fma(a1, b3, s13);
  s23 = fma(a2, b3, s23);
#else
  asm volatile(
      "vbroadcastss 96*%c[k](%[scalars]), %%ymm15\n\t"
      "vbroadcastss 96*%c[k]+4(%[scalars]), %%ymm14\n\t"
      "vbroadcastss 96*%c[k]+8(%[scalars]), %%ymm13\n\t"
      "vmovups 256*%c[k](%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s00]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s10]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s20]\n\t"
      "vmovups 256*%c[k]+32(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s01]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s11]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s21]\n\t"
      "vmovups 256*%c[k]+64(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s02]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s12]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s22]\n\t"
      "vmovups 256*%c[k]+96(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s03]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s13]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s23]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01), [s02] "+x"(s02), [s03] "+x"(s03),
      [s10] "+x"(s10), [s11] "+x"(s11), [s12] "+x"(s12), [s13] "+x"(s13),
      [s20] "+x"(s20), [s21] "+x"(s21), [s22] "+x"(s22), [s23] "+x"(s23)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 3 rows x 32 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_3x32(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);

  const long whole = 4 * (count / 4);
  for (long k = 0; k < whole; k += 4) {
    attention_values_step_3x32<0>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<1>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<2>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<3>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = whole; k < count; ++k) {
    attention_values_step_3x32<0>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 320);
    s11 = s11 + load(out + 328);
    s12 = s12 + load(out + 336);
    s13 = s13 + load(out + 344);
    s20 = s20 + load(out + 640);
    s21 = s21 + load(out + 648);
    s22 = s22 + load(out + 656);
    s23 = s23 + load(out + 664);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 320, s10);
  store(out + 328, s11);
  store(out + 336, s12);
  store(out + 344, s13);
  store(out + 640, s20);
  store(out + 648, s21);
  store(out + 656, s22);
  store(out + 664, s23);
}

// Weights of 24 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_24(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8768 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 320 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));

  for (long n = 0; n < 64; n += 32) {
    for (long i = 0; i < 24; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32(local.scores + i, v + n, end, out + 320 * i + n, fresh);
    }
  }
}

// 24 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_24(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local, bool fresh) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 8, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  long done = 0;

  // The first columns give each row the score that the others are compared with.
  if (fresh) {
    const float* b = m.wk_out + 8768 * c1 + 64 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    if (count < 4) {
      if (col < whole_end) {
        attention_scores_1x24(local.rows, b, local.scores, local.block_peak);
      } else {
        attention_scores_in_part_1x24(b, local.scores, row, col, local);
      }
    } else if (col < whole_end) {
      attention_scores_4x24(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_4x24(b, local.scores, row, col, local);
    }
    done = smaller(4, count);
    attention_weigh_24(local, done, true);
  }

  attention_weights_of_24(m, c1, row, col, done, count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 8)));
  const lanes_t inside2 = both(inside1, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  if (any(negation(inside2))) {
    attention_mend_24(m, c1, row, col, done, count, whole_end, local, fresh);
  }

  attention_fold_24(m, c1, row, col, count, local, fresh);
}

// Whether all 24 rows are for the safe path already.
[[gnu::noinline]] bool attention_no_row_of_24_is_finite(const Memory& m, long c1, long row) {
  const float* out = m.heads + 64 * c1 + 320 * row;
  for (long i = 0; i < 24; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = load(out + 320 * i + n);
      odd = odd + (x - x);
    }
    if (!has_nan(odd)) {
      return false;
    }
  }
  return true;
}

// Scores of 24 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_24_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.125f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 8);
  const vec peak1 = max(old1, splat(0.125f) * load(local.block_peak + 8));
  store(local.peak + 8, peak1);
  store(local.carry + 8,
      select(both(less(old1, peak1), equal(load(local.kept + 8), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  const vec old2 = load(local.peak + 16);
  const vec peak2 = max(old2, splat(0.125f) * load(local.block_peak + 16));
  store(local.peak + 16, peak2);
  store(local.carry + 16,
      select(both(less(old2, peak2), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old2 - peak2), splat(1.0f)));
  vec total2 = splat(0.0f);
  lanes_t all2 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.125f) * load(local.scores + 24 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 24 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.125f) * load(local.scores + 24 * j + 8);
    const lanes_t hole1 = equal(score1, removed);
    const vec w1 = select(hole1, splat(-0.0f), exp_nonpositive(score1 - peak1) + splat(0.0f));
    store(local.scores + 24 * j + 8, w1);
    total1 = total1 + w1;
    all1 = both(all1, hole1);
    const vec score2 = splat(0.125f) * load(local.scores + 24 * j + 16);
    const lanes_t hole2 = equal(score2, removed);
    const vec w2 = select(hole2, splat(-0.0f), exp_nonpositive(score2 - peak2) + splat(0.0f));
    store(local.scores + 24 * j + 16, w2);
    total2 = total2 + w2;
    all2 = both(all2, hole2);
    const bool hole = any(either(either(hole0, hole1), hole2));
    local.holes[j] = hole ? 1.0f : 0.0f;
    some = some || hole;
    before_holes = some ? before_holes : j + 1;
  }

  local.holes[128] = float(before_holes);

  store(local.block_total, total0);
  store(local.kept, select(all0, load(local.kept), splat(1.0f)));

  store(local.block_total + 8, total1);
  store(local.kept + 8, select(all1, load(local.kept + 8), splat(1.0f)));

  store(local.block_total + 16, total2);
  store(local.kept + 16, select(all2, load(local.kept + 16), splat(1.0f)));
}

// 3 rows x 32 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_3x32_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);

  const long whole = 4 * (before_holes / 4);
  for (long k = 0; k < whole; k += 4) {
    attention_values_step_3x32<0>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<1>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<2>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<3>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = whole; k < before_holes; ++k) {
    attention_values_step_3x32<0>(weights + 24 * k, v + 64 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec a0 = splat(weights[24 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      const vec a1 = splat(weights[24 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      const vec a2 = splat(weights[24 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      const vec b0 = load(v + 64 * k);
      s00 = fma_unless(hole0, a0, b0, s00);
      s10 = fma_unless(hole1, a1, b0, s10);
      s20 = fma_unless(hole2, a2, b0, s20);
      const vec b1 = load(v + 64 * k + 8);
      s01 = fma_unless(hole0, a0, b1, s01);
      s11 = fma_unless(hole1, a1, b1, s11);
      s21 = fma_unless(hole2, a2, b1, s21);
      const vec b2 = load(v + 64 * k + 16);
      s02 = fma_unless(hole0, a0, b2, s02);
      s12 = fma_unless(hole1, a1, b2, s12);
      s22 = fma_unless(hole2, a2, b2, s22);
      const vec b3 = load(v + 64 * k + 24);
      s03 = fma_unless(hole0, a0, b3, s03);
      s13 = fma_unless(hole1, a1, b3, s13);
      s23 = fma_unless(hole2, a2, b3, s23);
    } else {
      const vec a0 = splat(weights[24 * k]);
      const vec a1 = splat(weights[24 * k + 1]);
      const vec a2 = splat(weights[24 * k + 2]);
      const vec b0 = load(v + 64 * k);
      s00 = fma(a0, b0, s00);
      s10 = fma(a1, b0, s10);
      s20 = fma(a2, b0, s20);
      const vec b1 = load(v + 64 * k + 8);
      s01 = fma(a0, b1, s01);
      s11 = fma(a1, b1, s11);
      s21 = fma(a2, b1, s21);
      const vec b2 = load(v + 64 * k + 16);
      s02 = fma(a0, b2, s02);
      s12 = fma(a1, b2, s12);
      s22 = fma(a2, b2, s22);
      const vec b3 = load(v + 64 * k + 24);
      s03 = fma(a0, b3, s03);
      s13 = fma(a1, b3, s13);
      s23 = fma(a2, b3, s23);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 320);
    s11 = s11 + load(out + 328);
    s12 = s12 + load(out + 336);
    s13 = s13 + load(out + 344);
    s20 = s20 + load(out + 640);
    s21 = s21 + load(out + 648);
    s22 = s22 + load(out + 656);
    s23 = s23 + load(out + 664);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 320, s10);
  store(out + 328, s11);
  store(out + 336, s12);
  store(out + 344, s13);
  store(out + 640, s20);
  store(out + 648, s21);
  store(out + 656, s22);
  store(out + 664, s23);
}

// Weights of 24 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_24_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8768 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 320 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  const long before = long(local.holes[128]);

  for (long n = 0; n < 64; n += 32) {
    for (long i = 0; i < 24; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32_with_holes(local.scores + i, v + n, end, out + 320 * i + n, local.holes,
          smaller(larger(before, 0), end), fresh);
    }
  }
}

// 24 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_24_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 8, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  attention_scores_of_24(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_24_safely(local, count);
  if (!fresh) {
    attention_carry_over_24(m, c1, row, local);
  }

  if (long(local.holes[128]) < count) {
    attention_fold_24_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_24(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_24_rows_safely(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 24 * nth;
  const float* a = m.wq_out + 8768 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 320 * row;

  for (long i = 0; i < 24; ++i) {
    for (long n = 0; n < 64; n += 8) {
      store(local.fast + 64 * i + n, load(out + 320 * i + n));
    }
  }

  for (long r = 0; r < 24; r += 8) {
    for (long k = 0; k < 64; k += 8) {
      transpose_block(a + 64 * r + k, 64, local.rows + 24 * k + r, 24, splat(1.0f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 8, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 8, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  bool fresh = true;
  const long whole_end = 24 * nth;
  const long end = 24 * nth + 24;
  for (long col = 0; col < end; col += 128) {
    attention_visit_24_safely(m, c1, row, col, smaller(128, end - col), whole_end, local, fresh);
    fresh = false;
  }

  store(local.carry,
      select(equal(load(local.kept), splat(1.0f)), splat(1.0f) / load(local.total), splat(0.0f)));
  store(local.carry + 8,
      select(equal(load(local.kept + 8), splat(1.0f)), splat(1.0f) / load(local.total + 8),
          splat(0.0f)));
  store(local.carry + 16,
      select(equal(load(local.kept + 16), splat(1.0f)), splat(1.0f) / load(local.total + 16),
          splat(0.0f)));
  for (long i = 0; i < 24; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = load(local.fast + 64 * i + n);
      odd = odd + (x - x);
    }
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 64; n += 8) {
        store(out + 320 * i + n, factor * load(out + 320 * i + n));
      }
    } else {
      for (long n = 0; n < 64; n += 8) {
        store(out + 320 * i + n, load(local.fast + 64 * i + n));
      }
    }
  }
}

// The nth of 5 blocks of 24 rows.
[[gnu::noinline]] void attention_24_rows(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 24 * nth;
  const float* a = m.wq_out + 8768 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 320 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 24; r += 8) {
    for (long k = 0; k < 64; k += 8) {
      transpose_block(a + 64 * r + k, 64, local.rows + 24 * k + r, 24, splat(0.18033688f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.total + 8, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));

  bool fresh = true;
  const long whole_end = 24 * nth;
  const long end = 24 * nth + 24;
  for (long col = 0; col < end; col += 128) {
    if (!fresh && attention_no_row_of_24_is_finite(m, c1, row)) {
      break;
    }
    attention_visit_24(m, c1, row, col, smaller(128, end - col), whole_end, local, fresh);
    fresh = false;
  }

  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 8, splat(1.0f) / load(local.total + 8));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));

  // x - x is 0, or NaN if x is not finite.
  vec odd = splat(0.0f);
  for (long i = 0; i < 24; ++i) {
    const vec factor = splat(local.carry[i]);
    vec odd_of_row = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = factor * load(out + 320 * i + n);
      store(out + 320 * i + n, x);
      odd_of_row = odd_of_row + (x - x);
    }
    odd = odd + odd_of_row;
  }
  if (has_nan(odd)) {
    attention_24_rows_safely(m, c1, nth, local);
  }
}

// 1 columns x 17 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_1x17(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 1; ++i) {
        store(scores + 24 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_1x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_1x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_1x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
}

// 4 columns x 17 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_4x17(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 4; ++i) {
        store(scores + 24 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_4x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_4x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_4x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
}

// 4 columns x 17 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_4x17(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 4; ++i) {
        store(scores + 24 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_4x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_4x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_4x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// 1 columns x 17 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_1x17(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(8 * (row / 8) + 8, 137);
  const bool some0 = col < high0;
  const long high1 = smaller(8 * (row / 8) + 16, 137);
  const bool some1 = col < high1;
  const long high2 = smaller(8 * (row / 8) + 24, 137);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 1; ++i) {
        store(scores + 24 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_1x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_1x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_1x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// Weights of 17 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_17(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8768 * c1 + 64 * col;
  float* late = nullptr;
  for (long j = from; j < count - 3; j += 4) {
    if (col + j < whole_end) {
      attention_late_4x24(m, local.rows, b + 64 * j, local.scores + 24 * j, late, local.shift,
          local.block_total, c1, row, col + j);
      late = local.scores + 24 * j;
    } else {
      if (late) {
        attention_weigh_4x24(late, local.block_total);
      }
      late = nullptr;
      attention_weights_in_part_4x17(b + 64 * j, local.scores + 24 * j, row, col + j, local);
    }
  }
  if (late) {
    attention_weigh_4x24(late, local.block_total);
  }
  const long rest = 4 * (count / 4);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_weights_1x24(m, local.rows, b + 64 * rest, local.scores + 24 * rest, local.shift,
          local.block_total, c1, row, col + rest);
    } else {
      attention_weights_in_part_1x17(b + 64 * rest, local.scores + 24 * rest, row, col + rest,
          local);
    }
  }
}

// Scores of 17 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_17(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8768 * c1 + 64 * col;
  for (long j = from; j < count - 3; j += 4) {
    if (col + j < whole_end) {
      attention_scores_4x24(local.rows, b + 64 * j, local.scores + 24 * j, local.block_peak);
    } else {
      attention_scores_in_part_4x17(b + 64 * j, local.scores + 24 * j, row, col + j, local);
    }
  }
  const long rest = 4 * (count / 4);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_scores_1x24(local.rows, b + 64 * rest, local.scores + 24 * rest, local.block_peak);
    } else {
      attention_scores_in_part_1x17(b + 64 * rest, local.scores + 24 * rest, row, col + rest,
          local);
    }
  }
}

// What 17 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_17(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 8, load(local.carry + 8) * load(local.total + 8));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));

  float* out = m.heads + 64 * c1 + 320 * row;
  for (long i = 0; i < 17; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 64; n += 8) {
      store(out + 320 * i + n, carry * load(out + 320 * i + n));
    }
  }
}

// Of 17 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_17(attention_memory& local, long count) {
  for (long i = 0; i < 24; i += 8) {
    const vec total = load(local.block_total + i);
    const lanes_t inside = not_less(splat(0x1p+40f), total);
    const vec rise = select(inside, splat(0.0f), exponent_of(total));
    const vec old = load(local.peak + i);
    const vec peak = old + rise;
    const vec carry = select(inside, splat(1.0f), inverse_power(total));
    store(local.peak + i, peak);
    store(local.shift + i, splat(0.0f) - peak);
    store(local.carry + i, carry);
    store(local.block_total + i, carry * total);
    if (any(negation(inside))) {
      for (long j = 0; j < count; ++j) {
        store(local.scores + i + 24 * j, carry * load(local.scores + i + 24 * j));
      }
    }
  }
}

// Weights of 17 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_17(const Memory& m, long c1, long row, long col, long from,
    long count, long whole_end, attention_memory& local, bool fresh) {
  // Too large for that: the greatest score becomes the reference.
  const lanes_t inside0 = either(not_less(splat(0x1p+40f), load(local.block_total)),
      both(not_less(splat(0x1p+120f), load(local.block_total)),
          less_equal(splat(-4.0f) * load(local.peak), exponent_of(load(local.block_total)))));
  const lanes_t inside1 = both(inside0,
      either(not_less(splat(0x1p+40f), load(local.block_total + 8)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 8)),
              less_equal(splat(-4.0f) * load(local.peak + 8),
                  exponent_of(load(local.block_total + 8))))));
  const lanes_t inside2 = both(inside1,
      either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
              less_equal(splat(-4.0f) * load(local.peak + 16),
                  exponent_of(load(local.block_total + 16))))));
  if (any(negation(inside2))) {
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    attention_scores_of_17(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_24(local, from, false);
    if (!fresh) {
      attention_carry_over_17(m, c1, row, local);
    }
    attention_weights_of_17(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_17(local, count);
  if (!fresh) {
    attention_carry_over_17(m, c1, row, local);
  }
}

// 2 rows x 32 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_2x32(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec a0 = splat(weights[24 * k]);
    const vec a1 = splat(weights[24 * k + 1]);
    const vec b0 = load(v + 64 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(v + 64 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(v + 64 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(v + 64 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 320);
    s11 = s11 + load(out + 328);
    s12 = s12 + load(out + 336);
    s13 = s13 + load(out + 344);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 320, s10);
  store(out + 328, s11);
  store(out + 336, s12);
  store(out + 344, s13);
}

// Weights of 17 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_17(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8768 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 320 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));

  for (long n = 0; n < 64; n += 32) {
    for (long i = 0; i < 15; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32(local.scores + i, v + n, end, out + 320 * i + n, fresh);
    }
    {
      const long high_last = row + 17;
      const long end = smaller(high_last - col, count);
      attention_values_2x32(local.scores + 15, v + n, end, out + n + 4800, fresh);
    }
  }
}

// 17 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_17(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local, bool fresh) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 8, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  long done = 0;

  // The first columns give each row the score that the others are compared with.
  if (fresh) {
    const float* b = m.wk_out + 8768 * c1 + 64 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    if (count < 4) {
      if (col < whole_end) {
        attention_scores_1x24(local.rows, b, local.scores, local.block_peak);
      } else {
        attention_scores_in_part_1x17(b, local.scores, row, col, local);
      }
    } else if (col < whole_end) {
      attention_scores_4x24(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_4x17(b, local.scores, row, col, local);
    }
    done = smaller(4, count);
    attention_weigh_24(local, done, true);
  }

  attention_weights_of_17(m, c1, row, col, done, count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 8)));
  const lanes_t inside2 = both(inside1, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  if (any(negation(inside2))) {
    attention_mend_17(m, c1, row, col, done, count, whole_end, local, fresh);
  }

  attention_fold_17(m, c1, row, col, count, local, fresh);
}

// Whether all 17 rows are for the safe path already.
[[gnu::noinline]] bool attention_no_row_of_17_is_finite(const Memory& m, long c1, long row) {
  const float* out = m.heads + 64 * c1 + 320 * row;
  for (long i = 0; i < 17; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = load(out + 320 * i + n);
      odd = odd + (x - x);
    }
    if (!has_nan(odd)) {
      return false;
    }
  }
  return true;
}

// 2 rows x 32 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_2x32_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < before_holes; ++k) {
    const vec a0 = splat(weights[24 * k]);
    const vec a1 = splat(weights[24 * k + 1]);
    const vec b0 = load(v + 64 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(v + 64 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(v + 64 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(v + 64 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec a0 = splat(weights[24 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      const vec a1 = splat(weights[24 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      const vec b0 = load(v + 64 * k);
      s00 = fma_unless(hole0, a0, b0, s00);
      s10 = fma_unless(hole1, a1, b0, s10);
      const vec b1 = load(v + 64 * k + 8);
      s01 = fma_unless(hole0, a0, b1, s01);
      s11 = fma_unless(hole1, a1, b1, s11);
      const vec b2 = load(v + 64 * k + 16);
      s02 = fma_unless(hole0, a0, b2, s02);
      s12 = fma_unless(hole1, a1, b2, s12);
      const vec b3 = load(v + 64 * k + 24);
      s03 = fma_unless(hole0, a0, b3, s03);
      s13 = fma_unless(hole1, a1, b3, s13);
    } else {
      const vec a0 = splat(weights[24 * k]);
      const vec a1 = splat(weights[24 * k + 1]);
      const vec b0 = load(v + 64 * k);
      s00 = fma(a0, b0, s00);
      s10 = fma(a1, b0, s10);
      const vec b1 = load(v + 64 * k + 8);
      s01 = fma(a0, b1, s01);
      s11 = fma(a1, b1, s11);
      const vec b2 = load(v + 64 * k + 16);
      s02 = fma(a0, b2, s02);
      s12 = fma(a1, b2, s12);
      const vec b3 = load(v + 64 * k + 24);
      s03 = fma(a0, b3, s03);
      s13 = fma(a1, b3, s13);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 320);
    s11 = s11 + load(out + 328);
    s12 = s12 + load(out + 336);
    s13 = s13 + load(out + 344);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 320, s10);
  store(out + 328, s11);
  store(out + 336, s12);
  store(out + 344, s13);
}

// Weights of 17 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_17_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8768 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 320 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  const long before = long(local.holes[128]);

  for (long n = 0; n < 64; n += 32) {
    for (long i = 0; i < 15; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32_with_holes(local.scores + i, v + n, end, out + 320 * i + n, local.holes,
          smaller(larger(before, 0), end), fresh);
    }
    {
      const long high_last = row + 17;
      const long end = smaller(high_last - col, count);
      attention_values_2x32_with_holes(local.scores + 15, v + n, end, out + n + 4800, local.holes,
          smaller(larger(before, 0), end), fresh);
    }
  }
}

// 17 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_17_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 8, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  attention_scores_of_17(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_24_safely(local, count);
  if (!fresh) {
    attention_carry_over_17(m, c1, row, local);
  }

  if (long(local.holes[128]) < count) {
    attention_fold_17_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_17(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_17_rows_safely(const Memory& m, long c1, attention_memory& local) {
  const long row = 120;
  const float* a = m.wq_out + 8768 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 320 * row;

  for (long i = 0; i < 17; ++i) {
    for (long n = 0; n < 64; n += 8) {
      store(local.fast + 64 * i + n, load(out + 320 * i + n));
    }
  }

  for (long r = 0; r < 16; r += 8) {
    for (long k = 0; k < 64; k += 8) {
      transpose_block(a + 64 * r + k, 64, local.rows + 24 * k + r, 24, splat(1.0f));
    }
  }
  for (long k = 0; k < 64; k += 8) {
    transpose_block(a + k + 576, 64, local.rows + 24 * k + 9, 24, splat(1.0f));
  }
  const lanes_t empty = iless_equal(isplat(1), iota());
  for (long k = 0; k < 64; ++k) {
    float* last = local.rows + 24 * k + 16;
    store(last, select(empty, splat(last[0]), load(last)));
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 8, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 8, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  bool fresh = true;
  for (long col = 0; col < 137; col += 128) {
    attention_visit_17_safely(m, c1, row, col, smaller(128, 137 - col), 120, local, fresh);
    fresh = false;
  }

  store(local.carry,
      select(equal(load(local.kept), splat(1.0f)), splat(1.0f) / load(local.total), splat(0.0f)));
  store(local.carry + 8,
      select(equal(load(local.kept + 8), splat(1.0f)), splat(1.0f) / load(local.total + 8),
          splat(0.0f)));
  store(local.carry + 16,
      select(equal(load(local.kept + 16), splat(1.0f)), splat(1.0f) / load(local.total + 16),
          splat(0.0f)));
  for (long i = 0; i < 17; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = load(local.fast + 64 * i + n);
      odd = odd + (x - x);
    }
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 64; n += 8) {
        store(out + 320 * i + n, factor * load(out + 320 * i + n));
      }
    } else {
      for (long n = 0; n < 64; n += 8) {
        store(out + 320 * i + n, load(local.fast + 64 * i + n));
      }
    }
  }
}

// The one block of 17 rows.
[[gnu::noinline]] void attention_17_rows(const Memory& m, long c1, attention_memory& local) {
  const long row = 120;
  const float* a = m.wq_out + 8768 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 320 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 16; r += 8) {
    for (long k = 0; k < 64; k += 8) {
      transpose_block(a + 64 * r + k, 64, local.rows + 24 * k + r, 24, splat(0.18033688f));
    }
  }
  for (long k = 0; k < 64; k += 8) {
    transpose_block(a + k + 576, 64, local.rows + 24 * k + 9, 24, splat(0.18033688f));
  }
  const lanes_t empty = iless_equal(isplat(1), iota());
  for (long k = 0; k < 64; ++k) {
    float* last = local.rows + 24 * k + 16;
    store(last, select(empty, splat(last[0]), load(last)));
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.total + 8, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));

  bool fresh = true;
  for (long col = 0; col < 137; col += 128) {
    if (!fresh && attention_no_row_of_17_is_finite(m, c1, row)) {
      break;
    }
    attention_visit_17(m, c1, row, col, smaller(128, 137 - col), 120, local, fresh);
    fresh = false;
  }

  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 8, splat(1.0f) / load(local.total + 8));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));

  // x - x is 0, or NaN if x is not finite.
  vec odd = splat(0.0f);
  for (long i = 0; i < 17; ++i) {
    const vec factor = splat(local.carry[i]);
    vec odd_of_row = splat(0.0f);
    for (long n = 0; n < 64; n += 8) {
      const vec x = factor * load(out + 320 * i + n);
      store(out + 320 * i + n, x);
      odd_of_row = odd_of_row + (x - x);
    }
    odd = odd + odd_of_row;
  }
  if (has_nan(odd)) {
    attention_17_rows_safely(m, c1, local);
  }
}

// An item: one block of rows.
[[gnu::noinline]] void attention(const Memory& m, long item, attention_memory& local) {
  const long block = 5 - item % 6;
  const long c1 = item / 6;
  if (block < 5) {
    attention_24_rows(m, c1, block, local);
  } else {
    attention_17_rows(m, c1, local);
  }
}

// Step k of 6 rows x 16 columns.
template <int k>
[[gnu::always_inline]] static inline void project_wo_step_6x16(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s10, vec& s11, vec& s20, vec& s21, vec& s30,
    vec& s31, vec& s40, vec& s41, vec& s50, vec& s51) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 16 * k);
  const vec b1 = load(vectors + 16 * k + 8);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  const vec a1 = splat(scalars[k + 320]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  const vec a2 = splat(scalars[k + 640]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  const vec a3 = splat(scalars[k + 960]);
  s30 = fma(a3, b0, s30);
  s31 = fma(a3, b1, s31);
  const vec a4 = splat(scalars[k + 1280]);
  s40 = fma(a4, b0, s40);
  s41 = fma(a4, b1, s41);
  const vec a5 = splat(scalars[k + 1600]);
  s50 = fma(a5, b0, s50);
  s51 = fma(a5, b1, s51);
#else
  asm volatile(
      "vmovups 64*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 64*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s01]\n\t"
      "vbroadcastss 4*%c[k]+1280(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s11]\n\t"
      "vbroadcastss 4*%c[k]+2560(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s21]\n\t"
      "vbroadcastss 4*%c[k]+3840(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s30]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s31]\n\t"
      "vbroadcastss 4*%c[k]+5120(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s40]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s41]\n\t"
      "vbroadcastss 4*%c[k]+6400(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s50]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s51]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01),
      [s10] "+x"(s10), [s11] "+x"(s11),
      [s20] "+x"(s20), [s21] "+x"(s21),
      [s30] "+x"(s30), [s31] "+x"(s31),
      [s40] "+x"(s40), [s41] "+x"(s41),
      [s50] "+x"(s50), [s51] "+x"(s51)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 6 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wo_tile_6x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wo_step_6x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41,
          s50, s51);
      project_wo_step_6x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41,
          s50, s51);
      project_wo_step_6x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41,
          s50, s51);
      project_wo_step_6x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41,
          s50, s51);
    }
  }

  const long n = 8 * vector;

  float* out_at = m.out + 320 * row + n;
  store(out_at, s00);
  store(out_at + 320, s10);
  store(out_at + 640, s20);
  store(out_at + 960, s30);
  store(out_at + 1280, s40);
  store(out_at + 1600, s50);
  store(out_at + 8, s01);
  store(out_at + 328, s11);
  store(out_at + 648, s21);
  store(out_at + 968, s31);
  store(out_at + 1288, s41);
  store(out_at + 1608, s51);
}

// Step k of 5 rows x 16 columns.
template <int k>
[[gnu::always_inline]] static inline void project_wo_step_5x16(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s10, vec& s11, vec& s20, vec& s21, vec& s30,
    vec& s31, vec& s40, vec& s41) {
#if defined(textbook_mha_1_137_320_5_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 16 * k);
  const vec b1 = load(vectors + 16 * k + 8);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  const vec a1 = splat(scalars[k + 320]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  const vec a2 = splat(scalars[k + 640]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  const vec a3 = splat(scalars[k + 960]);
  s30 = fma(a3, b0, s30);
  s31 = fma(a3, b1, s31);
  const vec a4 = splat(scalars[k + 1280]);
  s40 = fma(a4, b0, s40);
  s41 = fma(a4, b1, s41);
#else
  asm volatile(
      "vmovups 64*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 64*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s01]\n\t"
      "vbroadcastss 4*%c[k]+1280(%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s11]\n\t"
      "vbroadcastss 4*%c[k]+2560(%[scalars]), %%ymm11\n\t"
      "vfmadd231ps %%ymm15, %%ymm11, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm11, %[s21]\n\t"
      "vbroadcastss 4*%c[k]+3840(%[scalars]), %%ymm10\n\t"
      "vfmadd231ps %%ymm15, %%ymm10, %[s30]\n\t"
      "vfmadd231ps %%ymm14, %%ymm10, %[s31]\n\t"
      "vbroadcastss 4*%c[k]+5120(%[scalars]), %%ymm13\n\t"
      "vfmadd231ps %%ymm15, %%ymm13, %[s40]\n\t"
      "vfmadd231ps %%ymm14, %%ymm13, %[s41]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01),
      [s10] "+x"(s10), [s11] "+x"(s11),
      [s20] "+x"(s20), [s21] "+x"(s21),
      [s30] "+x"(s30), [s31] "+x"(s31),
      [s40] "+x"(s40), [s41] "+x"(s41)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 5 rows of a times 16 columns of the panel w, 320 steps deep.
[[gnu::noinline]] void wo_tile_5x16(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  for (long from = 0; from < 320; from += 16) {
    prefetch_l2(w + 16 * from + 16 * (16 * row / 137) + 5120);
    for (long k = from; k < from + 16; k += 4) {
      project_wo_step_5x16<0>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41);
      project_wo_step_5x16<1>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41);
      project_wo_step_5x16<2>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41);
      project_wo_step_5x16<3>(a + k, w + 16 * k, s00, s01, s10, s11, s20, s21, s30, s31, s40, s41);
    }
  }

  const long n = 8 * vector;

  float* out_at = m.out + 320 * row + n;
  store(out_at, s00);
  store(out_at + 320, s10);
  store(out_at + 640, s20);
  store(out_at + 960, s30);
  store(out_at + 1280, s40);
  store(out_at + 8, s01);
  store(out_at + 328, s11);
  store(out_at + 648, s21);
  store(out_at + 968, s31);
  store(out_at + 1288, s41);
}

// An item: a slice of the rows against one panel of columns.
[[gnu::noinline]] void project_wo(const Memory& m, long item) {
  const long slice = item % 4;
  const long panel = item / 4;
  const float* a = m.heads;
  const float* w = m.packed + 5120 * panel + 324736;
  const long vector = 2 * panel;
  for (long tile = 23 * slice / 4; tile < (23 * slice + 23) / 4; ++tile) {
    if (tile < 22) {
      const long row = 6 * tile;
      wo_tile_6x16(m, a + 320 * row, w, row, vector);
    } else {
      const long row = 5 * tile + 22;
      wo_tile_5x16(m, a + 320 * row, w, row, vector);
    }
  }
}

// An item on a thread of its own, whose floating-point state comes back as it was.
template <void (*Item)(const Memory&, long, int)>
void on_worker(void* m, long item, int worker) {
  const unsigned before = set_float_state();
  Item(*static_cast<Memory*>(m), item, worker);
  restore_float_state(before);
}

void project_wq_wk_wv_item(const Memory& m, long item, int) {
  project_wq_wk_wv(m, item);
}

void attention_item(const Memory& m, long item, int worker) {
  attention(m, item, *reinterpret_cast<attention_memory*>(m.local + 6464L * worker));
}

void project_wo_item(const Memory& m, long item, int) {
  project_wo(m, item);
}

}  // namespace

size_t workspace_bytes(int workers) { return 701440u + 25856u * (size_t)workers; }

size_t packed_bytes() { return 1708544u; }

void pack_weights(const textbook_mha_1_137_320_5_weights* w, float* packed) {
  {
    // Each row's cosines of angles, then as many sines.
    const unsigned before = set_float_state();
    static const double frequency[] = {0x1p+0, 0x1.7ff2224115d9ap-1, 0x1.1feb33c1c381ep-1,
        0x1.afd1354c40d5p-2, 0x1.43d136248490fp-2, 0x1.e5a84719edcd2p-3, 0x1.6c310e3769f3fp-3,
        0x1.111aedafb9a9dp-3, 0x1.999999999999ap-4, 0x1.33281b6744ae1p-4, 0x1.ccab8602d2697p-5,
        0x1.59742aa36710dp-5, 0x1.030dc4ea03a72p-5, 0x1.84869f47f170fp-6, 0x1.235a71c5ee5ccp-6,
        0x1.b4f7e2b2c2a95p-7, 0x1.47ae147ae147bp-7, 0x1.eb735f0ba1168p-8, 0x1.7089380241edfp-8,
        0x1.145ceee91f40bp-8, 0x1.9e7c6e43390b7p-9, 0x1.36d219065ac0cp-9, 0x1.d22a4fa316facp-10,
        0x1.5d931bc235544p-10, 0x1.0624dd2f1a9fcp-10, 0x1.892918d61a787p-11, 0x1.26d42cce9b24cp-11,
        0x1.ba2e4b0e98677p-12, 0x1.4b96be9c2da2cp-12, 0x1.f150280a2acep-13, 0x1.74eea61c12623p-13,
        0x1.17a8e301c4436p-13};
    for (long row = 0; row < 137; ++row) {
      float* cosines = packed + 64 * row;
      double angle[32];
      for (long i = 0; i < 32; ++i) {
        angle[i] = double(row) * frequency[i];
      }
      turn<32, true>(cosines, cosines + 8768, angle, 0x1p+0);
    }
    restore_float_state(before);
  }
  // wq: panels of 16 columns, each [320, columns]
  for (long vector = 0; vector < 40; ++vector) {
    const long panel = vector / 2;
    const long place = vector % 8;
    const long column = 8 * place;
    float* to = packed + 5120 * panel + 8 * (vector % 2) + 17536;
    const float* from = w->wq + 320 * (64 * (vector / 8) + column);
    for (long k = 0; k < 320; ++k) {
      for (long lane = 0; lane < 8; ++lane) {
        to[16 * k + lane] = from[320 * lane + k];
      }
    }
  }
  // wk: panels of 16 columns, each [320, columns]
  for (long vector = 0; vector < 40; ++vector) {
    const long panel = vector / 2;
    const long place = vector % 8;
    const long column = 8 * place;
    float* to = packed + 5120 * panel + 8 * (vector % 2) + 119936;
    const float* from = w->wk + 320 * (64 * (vector / 8) + column);
    for (long k = 0; k < 320; ++k) {
      for (long lane = 0; lane < 8; ++lane) {
        to[16 * k + lane] = from[320 * lane + k];
      }
    }
  }
  // wv: panels of 16 columns, each [320, columns]
  for (long vector = 0; vector < 40; ++vector) {
    const long panel = vector / 2;
    const long place = vector % 8;
    const long column = 8 * place;
    float* to = packed + 5120 * panel + 8 * (vector % 2) + 222336;
    const float* from = w->wv + 320 * (64 * (vector / 8) + column);
    for (long k = 0; k < 320; ++k) {
      for (long lane = 0; lane < 8; ++lane) {
        to[16 * k + lane] = from[320 * lane + k];
      }
    }
  }
  // wo: panels of 16 columns, each [320, columns]
  for (long vector = 0; vector < 40; ++vector) {
    const long panel = vector / 2;
    const long column = 8 * vector;
    float* to = packed + 5120 * panel + 8 * (vector % 2) + 324736;
    const float* from = w->wo + 320 * column;
    for (long k = 0; k < 320; ++k) {
      for (long lane = 0; lane < 8; ++lane) {
        to[16 * k + lane] = from[320 * lane + k];
      }
    }
  }
}

void run(const textbook_mha_1_137_320_5_args* args, const void* packed, void* workspace,
    int workers, textbook_mha_1_137_320_5_parallel_for parallel_for, void* ctx) {
  Memory m;
  m.packed = static_cast<const float*>(packed);
  float* scratch = static_cast<float*>(workspace);
  m.x = args->x;
  m.out = args->out;
  m.angles = m.packed;
  m.wq_out = scratch;
  m.wk_out = scratch + 43840;
  m.wv_out = scratch + 87680;
  m.heads = scratch + 131520;
  m.local = scratch + 175360;

  const auto each = [&](long items, void (*one)(const Memory&, long, int),
                        void (*one_of_many)(void*, long, int)) {
    if (parallel_for && workers > 1) return parallel_for(ctx, items, one_of_many, &m);
    const unsigned before = set_float_state();
    for (long item = 0; item < items; ++item) one(m, item, 0);
    restore_float_state(before);
  };
  each(120, project_wq_wk_wv_item, on_worker<project_wq_wk_wv_item>);
  each(30, attention_item, on_worker<attention_item>);
  each(80, project_wo_item, on_worker<project_wo_item>);
}

}  // namespace textbook_mha_1_137_320_5_avx2

#ifdef __clang__
  #pragma clang attribute pop
  #pragma clang diagnostic pop
#else
  #pragma GCC pop_options
#endif
