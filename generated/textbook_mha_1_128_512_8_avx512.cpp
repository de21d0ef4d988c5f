// textbook_mha_1_128_512_8 for avx512: 16 floats a vector, 32 registers. Made by
//   attune gen 'textbook_mha<1,128,512,8>' --isa portable,avx2,avx512
// One call takes 285.3 MFLOP on 4.719 MB of inputs, outputs and weights.
//
// The spec is textbook_mha<1,128,512,8>:
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
// - angles_once: cosines and sines of angles, made by pack_weights, writes angles (32 kB).
// - project_wq_wk_wv: 128 rows of 512 by wq (512 columns), wk (512 columns) and wv (512 columns),
//   packed in 33 panels of 48 columns (96 kB), 1/2 of its rows an item; tiles of 9 rows x 48
//   columns: 27 of 32 registers accumulate, a step is 27 fma on 12 loads; tiles ask memory for the
//   next panel.
// - attention: 8 times 128 rows against 128 columns, 128 at a time: their scores lie in a worker's
//   50.1 kB and nowhere else. 2 blocks of 48 rows, score tiles of 8 columns x 48 lanes: 24 of 32
//   registers accumulate, a step is 24 fma on 11 loads. 1 block of 32 rows, score tiles of 8
//   columns x 32 lanes: 16 of 32 registers accumulate, a step is 16 fma on 10 loads. Score tiles
//   ask memory for the next head, the next rows and the results' place. Whole tiles of removed
//   pairs are skipped; tiles that keep all pairs test none. Value tiles of 6 rows x 64 columns: 24
//   of 32 registers accumulate, a step is 24 fma on 10 loads.
// - project_wo: 128 rows of 512 by wo (512 columns), packed in 11 panels of 48 columns (96 kB), 1/3
//   of its rows an item; tiles of 9 rows x 48 columns: 27 of 32 registers accumulate, a step is 27
//   fma on 12 loads.
#include "textbook_mha_1_128_512_8.h"

#include <immintrin.h>

#ifdef __FAST_MATH__
  #error "compile this file without -ffast-math: it relies on NaN, infinities and the order of sums"
#endif

#ifdef __clang__
  #pragma clang diagnostic push
  #pragma clang diagnostic ignored "-Wunused-function"
  #pragma clang fp contract(off)
  #pragma clang attribute push( \
      __attribute__((target("avx512f,avx512vl,avx512dq,avx512bw"))), apply_to = function)
#else
  #pragma GCC push_options
  #pragma GCC target("avx512f,avx512vl,avx512dq,avx512bw")
  #pragma GCC optimize("fp-contract=off")
#endif

namespace textbook_mha_1_128_512_8_avx512 {

namespace {

using vec = __m512;
typedef int ivec __attribute__((vector_size(64)));
using lanes_t = __mmask16;  // a bit per lane

// The plain forms of some intrinsics make GCC 12 warn of an uninitialized value in its own header.
enum : lanes_t { every = 0xffff };

static inline vec load(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, vec a) { _mm512_storeu_ps(p, a); }
static inline vec splat(float x) { return _mm512_set1_ps(x); }

// a * b + c with one rounding.
static inline vec fma(vec a, vec b, vec c) { return _mm512_fmadd_ps(a, b, c); }

// c where m, else a * b + c.
static inline vec fma_unless(lanes_t m, vec a, vec b, vec c) {
  return _mm512_mask3_fmadd_ps(a, b, c, (lanes_t)~m);
}

// The second operand where either is NaN.
static inline vec max(vec a, vec b) { return _mm512_maskz_max_ps(every, a, b); }
static inline float max(float a, float b) { return a > b ? a : b; }

// a where m, else b.
static inline vec select(lanes_t m, vec a, vec b) { return _mm512_mask_blend_ps(m, b, a); }

// a where m, else 0, whatever a holds there.
static inline vec keep_where(lanes_t m, vec a) { return _mm512_maskz_mov_ps(m, a); }

// False where either is NaN.
static inline lanes_t less(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LT_OQ); }

// False where either is NaN.
static inline lanes_t less_equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_LE_OQ); }

// False where either is NaN.
static inline lanes_t equal(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_EQ_OQ); }

// True where either is NaN.
static inline lanes_t not_less(vec a, vec b) { return _mm512_cmp_ps_mask(a, b, _CMP_NLT_UQ); }

static inline lanes_t both(lanes_t m, lanes_t n) { return m & n; }
static inline lanes_t either(lanes_t m, lanes_t n) { return m | n; }
static inline lanes_t negation(lanes_t m) { return (lanes_t)~m; }
static inline bool any(lanes_t m) { return m != 0; }
static inline lanes_t all_lanes(bool b) { return (lanes_t)-b; }
static inline bool has_nan(vec a) { return _mm512_cmp_ps_mask(a, a, _CMP_UNORD_Q) != 0; }
static inline ivec iota() { return ivec{0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, 14, 15}; }
static inline ivec isplat(int i) { return (ivec)_mm512_set1_epi32(i); }

static inline lanes_t iless_equal(ivec a, ivec b) {
  return _mm512_cmple_epi32_mask((__m512i)a, (__m512i)b);
}

static inline lanes_t iequal(ivec a, ivec b) {
  return _mm512_cmpeq_epi32_mask((__m512i)a, (__m512i)b);
}

static inline vec to_real(ivec a) { return _mm512_maskz_cvtepi32_ps(every, (__m512i)a); }

// a less the greatest integer that is not above it, rounded down; 0 for +-inf.
static inline vec fraction(vec a) { return _mm512_maskz_reduce_ps(every, a, 9); }

// p * 2^floor(n); NaN if either is.
static inline vec scale2(vec p, vec n) { return _mm512_maskz_scalef_ps(every, p, n); }

// Lanes 1, 0, 3, 2, ..
static inline vec swap_pairs(vec a) { return _mm512_maskz_permute_ps(every, a, 0xb1); }

// Lane i of a is p[i * stride], of b, c and d the next three.
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

// to[j * to_stride + i] = scale[i] * from[i * from_stride + j] for i, j < 16,
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
  vec n = fma(x, splat(1.44269502f), splat(12582912.0f)) - splat(12582912.0f);
  vec r = fma(n, splat(-0.693147182f), x);
  vec p = splat(0.00828973018f);
  p = fma(p, r, splat(0.0418978557f));
  p = fma(p, r, splat(0.166676477f));
  p = fma(p, r, splat(0.499991506f));
  p = fma(p, r, splat(0.999999702f));
  p = fma(p, r, splat(1.0f));
  return keep_where(not_less(x, splat(-87.3365021f)), scale2(p, n));
}

// 2^x within a relative 2e-7. NaN stays NaN, -inf gives 0; a result below the least normal float is
// 0 or subnormal, one above 2^127 is that or more.
static inline vec exp2_near(vec x) {
  vec r = fraction(x);
  vec p = splat(0.00187556923f);
  p = fma(p, r, splat(0.00899467524f));
  p = fma(p, r, splat(0.0558212101f));
  p = fma(p, r, splat(0.240155727f));
  p = fma(p, r, splat(0.693152726f));
  p = fma(p, r, splat(0.99999994f));
  return scale2(p, x);
}

// 2^x for x <= 0 within a relative 2e-7. NaN stays NaN. Exactly 0 below -126, where the result
// would be subnormal, and at -inf.
static inline vec exp2_nonpositive(vec x) {
  vec n = (x + splat(12582912.0f)) - splat(12582912.0f);
  vec r = x - n;
  vec p = splat(0.00132692605f);
  p = fma(p, r, splat(0.00967129972f));
  p = fma(p, r, splat(0.055507116f));
  p = fma(p, r, splat(0.240222469f));
  p = fma(p, r, splat(0.693147004f));
  p = fma(p, r, splat(1.0f));
  return keep_where(not_less(x, splat(-126.0f)), scale2(p, n));
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
  float rows[3072];       // [64][48], scaled, in units of log 2
  float scores[6144];     // [128][48]; weights once they are known
  float peak[48];         // of each row, the score that the others are compared with
  float total[48];        // and the sum of its weights
  float carry[48];        // what its older sums are multiplied by, at the end by what
  float block_peak[48];   // the greatest score in the block of columns
  float block_total[48];  // and the sum of the block's weights
  float shift[48];        // -peak, where the rows' accumulators start
  float odd[48];          // NaN once a result is not finite
  float kept[48];         // 1 where the safe path found a pair that counts
  float holes[144];       // [128]: 1 for a column with one; then how many come before the first
  float fast[3072];       // [48][64], the results that it came to replace
};

// 9 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wq_tile_9x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24624);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
        const vec a8 = splat(a[k + 4096]);
        s80 = fma(a8, b0, s80);
        s81 = fma(a8, b1, s81);
        s82 = fma(a8, b2, s82);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wq_out_at = m.wq_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wq_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wq_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wq_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  store(wq_out_at + 512, s80 * load(angles_at + 512) + swap_pairs(s80) * load(angles_at + 8704));
  float* wq_out_at1 = m.wq_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wq_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wq_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wq_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wq_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wq_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wq_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wq_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wq_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  store(wq_out_at1 + 512, s81 * load(angles_at1 + 512) + swap_pairs(s81) * load(angles_at1 + 8704));
  float* wq_out_at2 = m.wq_out + 8192 * group2 + 64 * row + n2;
  const float* angles_at2 = m.angles + 64 * row + n2;
  store(wq_out_at2, s02 * load(angles_at2) + swap_pairs(s02) * load(angles_at2 + 8192));
  store(wq_out_at2 + 64, s12 * load(angles_at2 + 64) + swap_pairs(s12) * load(angles_at2 + 8256));
  store(wq_out_at2 + 128, s22 * load(angles_at2 + 128) + swap_pairs(s22) * load(angles_at2 + 8320));
  store(wq_out_at2 + 192, s32 * load(angles_at2 + 192) + swap_pairs(s32) * load(angles_at2 + 8384));
  store(wq_out_at2 + 256, s42 * load(angles_at2 + 256) + swap_pairs(s42) * load(angles_at2 + 8448));
  store(wq_out_at2 + 320, s52 * load(angles_at2 + 320) + swap_pairs(s52) * load(angles_at2 + 8512));
  store(wq_out_at2 + 384, s62 * load(angles_at2 + 384) + swap_pairs(s62) * load(angles_at2 + 8576));
  store(wq_out_at2 + 448, s72 * load(angles_at2 + 448) + swap_pairs(s72) * load(angles_at2 + 8640));
  store(wq_out_at2 + 512, s82 * load(angles_at2 + 512) + swap_pairs(s82) * load(angles_at2 + 8704));
}

// 8 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wq_tile_8x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wq_out_at = m.wq_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wq_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wq_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wq_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  float* wq_out_at1 = m.wq_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wq_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wq_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wq_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wq_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wq_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wq_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wq_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wq_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  float* wq_out_at2 = m.wq_out + 8192 * group2 + 64 * row + n2;
  const float* angles_at2 = m.angles + 64 * row + n2;
  store(wq_out_at2, s02 * load(angles_at2) + swap_pairs(s02) * load(angles_at2 + 8192));
  store(wq_out_at2 + 64, s12 * load(angles_at2 + 64) + swap_pairs(s12) * load(angles_at2 + 8256));
  store(wq_out_at2 + 128, s22 * load(angles_at2 + 128) + swap_pairs(s22) * load(angles_at2 + 8320));
  store(wq_out_at2 + 192, s32 * load(angles_at2 + 192) + swap_pairs(s32) * load(angles_at2 + 8384));
  store(wq_out_at2 + 256, s42 * load(angles_at2 + 256) + swap_pairs(s42) * load(angles_at2 + 8448));
  store(wq_out_at2 + 320, s52 * load(angles_at2 + 320) + swap_pairs(s52) * load(angles_at2 + 8512));
  store(wq_out_at2 + 384, s62 * load(angles_at2 + 384) + swap_pairs(s62) * load(angles_at2 + 8576));
  store(wq_out_at2 + 448, s72 * load(angles_at2 + 448) + swap_pairs(s72) * load(angles_at2 + 8640));
}

// 9 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wq_tile_9x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16416);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      const vec a8 = splat(a[k + 4096]);
      s80 = fma(a8, b0, s80);
      s81 = fma(a8, b1, s81);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wq_out_at = m.wq_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wq_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wq_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wq_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  store(wq_out_at + 512, s80 * load(angles_at + 512) + swap_pairs(s80) * load(angles_at + 8704));
  float* wq_out_at1 = m.wq_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wq_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wq_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wq_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wq_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wq_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wq_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wq_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wq_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  store(wq_out_at1 + 512, s81 * load(angles_at1 + 512) + swap_pairs(s81) * load(angles_at1 + 8704));
}

// 8 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wq_tile_8x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wq_out_at = m.wq_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wq_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wq_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wq_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wq_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wq_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wq_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wq_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wq_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  float* wq_out_at1 = m.wq_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wq_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wq_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wq_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wq_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wq_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wq_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wq_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wq_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
}

// 9 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wk_tile_9x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24624);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
        const vec a8 = splat(a[k + 4096]);
        s80 = fma(a8, b0, s80);
        s81 = fma(a8, b1, s81);
        s82 = fma(a8, b2, s82);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wk_out_at = m.wk_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wk_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wk_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wk_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  store(wk_out_at + 512, s80 * load(angles_at + 512) + swap_pairs(s80) * load(angles_at + 8704));
  float* wk_out_at1 = m.wk_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wk_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wk_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wk_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wk_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wk_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wk_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wk_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wk_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  store(wk_out_at1 + 512, s81 * load(angles_at1 + 512) + swap_pairs(s81) * load(angles_at1 + 8704));
  float* wk_out_at2 = m.wk_out + 8192 * group2 + 64 * row + n2;
  const float* angles_at2 = m.angles + 64 * row + n2;
  store(wk_out_at2, s02 * load(angles_at2) + swap_pairs(s02) * load(angles_at2 + 8192));
  store(wk_out_at2 + 64, s12 * load(angles_at2 + 64) + swap_pairs(s12) * load(angles_at2 + 8256));
  store(wk_out_at2 + 128, s22 * load(angles_at2 + 128) + swap_pairs(s22) * load(angles_at2 + 8320));
  store(wk_out_at2 + 192, s32 * load(angles_at2 + 192) + swap_pairs(s32) * load(angles_at2 + 8384));
  store(wk_out_at2 + 256, s42 * load(angles_at2 + 256) + swap_pairs(s42) * load(angles_at2 + 8448));
  store(wk_out_at2 + 320, s52 * load(angles_at2 + 320) + swap_pairs(s52) * load(angles_at2 + 8512));
  store(wk_out_at2 + 384, s62 * load(angles_at2 + 384) + swap_pairs(s62) * load(angles_at2 + 8576));
  store(wk_out_at2 + 448, s72 * load(angles_at2 + 448) + swap_pairs(s72) * load(angles_at2 + 8640));
  store(wk_out_at2 + 512, s82 * load(angles_at2 + 512) + swap_pairs(s82) * load(angles_at2 + 8704));
}

// 8 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wk_tile_8x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wk_out_at = m.wk_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wk_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wk_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wk_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  float* wk_out_at1 = m.wk_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wk_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wk_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wk_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wk_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wk_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wk_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wk_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wk_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  float* wk_out_at2 = m.wk_out + 8192 * group2 + 64 * row + n2;
  const float* angles_at2 = m.angles + 64 * row + n2;
  store(wk_out_at2, s02 * load(angles_at2) + swap_pairs(s02) * load(angles_at2 + 8192));
  store(wk_out_at2 + 64, s12 * load(angles_at2 + 64) + swap_pairs(s12) * load(angles_at2 + 8256));
  store(wk_out_at2 + 128, s22 * load(angles_at2 + 128) + swap_pairs(s22) * load(angles_at2 + 8320));
  store(wk_out_at2 + 192, s32 * load(angles_at2 + 192) + swap_pairs(s32) * load(angles_at2 + 8384));
  store(wk_out_at2 + 256, s42 * load(angles_at2 + 256) + swap_pairs(s42) * load(angles_at2 + 8448));
  store(wk_out_at2 + 320, s52 * load(angles_at2 + 320) + swap_pairs(s52) * load(angles_at2 + 8512));
  store(wk_out_at2 + 384, s62 * load(angles_at2 + 384) + swap_pairs(s62) * load(angles_at2 + 8576));
  store(wk_out_at2 + 448, s72 * load(angles_at2 + 448) + swap_pairs(s72) * load(angles_at2 + 8640));
}

// 9 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wk_tile_9x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16416);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      const vec a8 = splat(a[k + 4096]);
      s80 = fma(a8, b0, s80);
      s81 = fma(a8, b1, s81);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wk_out_at = m.wk_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wk_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wk_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wk_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  store(wk_out_at + 512, s80 * load(angles_at + 512) + swap_pairs(s80) * load(angles_at + 8704));
  float* wk_out_at1 = m.wk_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wk_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wk_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wk_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wk_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wk_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wk_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wk_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wk_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
  store(wk_out_at1 + 512, s81 * load(angles_at1 + 512) + swap_pairs(s81) * load(angles_at1 + 8704));
}

// 8 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wk_tile_8x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wk_out_at = m.wk_out + 8192 * group0 + 64 * row + n0;
  const float* angles_at = m.angles + 64 * row + n0;
  store(wk_out_at, s00 * load(angles_at) + swap_pairs(s00) * load(angles_at + 8192));
  store(wk_out_at + 64, s10 * load(angles_at + 64) + swap_pairs(s10) * load(angles_at + 8256));
  store(wk_out_at + 128, s20 * load(angles_at + 128) + swap_pairs(s20) * load(angles_at + 8320));
  store(wk_out_at + 192, s30 * load(angles_at + 192) + swap_pairs(s30) * load(angles_at + 8384));
  store(wk_out_at + 256, s40 * load(angles_at + 256) + swap_pairs(s40) * load(angles_at + 8448));
  store(wk_out_at + 320, s50 * load(angles_at + 320) + swap_pairs(s50) * load(angles_at + 8512));
  store(wk_out_at + 384, s60 * load(angles_at + 384) + swap_pairs(s60) * load(angles_at + 8576));
  store(wk_out_at + 448, s70 * load(angles_at + 448) + swap_pairs(s70) * load(angles_at + 8640));
  float* wk_out_at1 = m.wk_out + 8192 * group1 + 64 * row + n1;
  const float* angles_at1 = m.angles + 64 * row + n1;
  store(wk_out_at1, s01 * load(angles_at1) + swap_pairs(s01) * load(angles_at1 + 8192));
  store(wk_out_at1 + 64, s11 * load(angles_at1 + 64) + swap_pairs(s11) * load(angles_at1 + 8256));
  store(wk_out_at1 + 128, s21 * load(angles_at1 + 128) + swap_pairs(s21) * load(angles_at1 + 8320));
  store(wk_out_at1 + 192, s31 * load(angles_at1 + 192) + swap_pairs(s31) * load(angles_at1 + 8384));
  store(wk_out_at1 + 256, s41 * load(angles_at1 + 256) + swap_pairs(s41) * load(angles_at1 + 8448));
  store(wk_out_at1 + 320, s51 * load(angles_at1 + 320) + swap_pairs(s51) * load(angles_at1 + 8512));
  store(wk_out_at1 + 384, s61 * load(angles_at1 + 384) + swap_pairs(s61) * load(angles_at1 + 8576));
  store(wk_out_at1 + 448, s71 * load(angles_at1 + 448) + swap_pairs(s71) * load(angles_at1 + 8640));
}

// 9 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wv_tile_9x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24624);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
        const vec a8 = splat(a[k + 4096]);
        s80 = fma(a8, b0, s80);
        s81 = fma(a8, b1, s81);
        s82 = fma(a8, b2, s82);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wv_out_at = m.wv_out + 8192 * group0 + 64 * row + n0;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 320, s50);
  store(wv_out_at + 384, s60);
  store(wv_out_at + 448, s70);
  store(wv_out_at + 512, s80);
  float* wv_out_at1 = m.wv_out + 8192 * group1 + 64 * row + n1;
  store(wv_out_at1, s01);
  store(wv_out_at1 + 64, s11);
  store(wv_out_at1 + 128, s21);
  store(wv_out_at1 + 192, s31);
  store(wv_out_at1 + 256, s41);
  store(wv_out_at1 + 320, s51);
  store(wv_out_at1 + 384, s61);
  store(wv_out_at1 + 448, s71);
  store(wv_out_at1 + 512, s81);
  float* wv_out_at2 = m.wv_out + 8192 * group2 + 64 * row + n2;
  store(wv_out_at2, s02);
  store(wv_out_at2 + 64, s12);
  store(wv_out_at2 + 128, s22);
  store(wv_out_at2 + 192, s32);
  store(wv_out_at2 + 256, s42);
  store(wv_out_at2 + 320, s52);
  store(wv_out_at2 + 384, s62);
  store(wv_out_at2 + 448, s72);
  store(wv_out_at2 + 512, s82);
}

// 8 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wv_tile_8x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24576);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24592);
    prefetch_l2(w + 48 * from + 16 * (48 * row / 128) + 24608);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(w + 48 * k);
        const vec b1 = load(w + 48 * k + 16);
        const vec b2 = load(w + 48 * k + 32);
        const vec a0 = splat(a[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(a[k + 512]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(a[k + 1024]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(a[k + 1536]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(a[k + 2048]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(a[k + 2560]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(a[k + 3072]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(a[k + 3584]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
      }
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);
  const long group2 = (vector + 2) / 4;
  const long n2 = 16 * ((vector + 2) % 4);

  float* wv_out_at = m.wv_out + 8192 * group0 + 64 * row + n0;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 320, s50);
  store(wv_out_at + 384, s60);
  store(wv_out_at + 448, s70);
  float* wv_out_at1 = m.wv_out + 8192 * group1 + 64 * row + n1;
  store(wv_out_at1, s01);
  store(wv_out_at1 + 64, s11);
  store(wv_out_at1 + 128, s21);
  store(wv_out_at1 + 192, s31);
  store(wv_out_at1 + 256, s41);
  store(wv_out_at1 + 320, s51);
  store(wv_out_at1 + 384, s61);
  store(wv_out_at1 + 448, s71);
  float* wv_out_at2 = m.wv_out + 8192 * group2 + 64 * row + n2;
  store(wv_out_at2, s02);
  store(wv_out_at2 + 64, s12);
  store(wv_out_at2 + 128, s22);
  store(wv_out_at2 + 192, s32);
  store(wv_out_at2 + 256, s42);
  store(wv_out_at2 + 320, s52);
  store(wv_out_at2 + 384, s62);
  store(wv_out_at2 + 448, s72);
}

// 9 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wv_tile_9x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16416);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      const vec a8 = splat(a[k + 4096]);
      s80 = fma(a8, b0, s80);
      s81 = fma(a8, b1, s81);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wv_out_at = m.wv_out + 8192 * group0 + 64 * row + n0;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 320, s50);
  store(wv_out_at + 384, s60);
  store(wv_out_at + 448, s70);
  store(wv_out_at + 512, s80);
  float* wv_out_at1 = m.wv_out + 8192 * group1 + 64 * row + n1;
  store(wv_out_at1, s01);
  store(wv_out_at1 + 64, s11);
  store(wv_out_at1 + 128, s21);
  store(wv_out_at1 + 192, s31);
  store(wv_out_at1 + 256, s41);
  store(wv_out_at1 + 320, s51);
  store(wv_out_at1 + 384, s61);
  store(wv_out_at1 + 448, s71);
  store(wv_out_at1 + 512, s81);
}

// 8 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wv_tile_8x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  for (long from = 0; from < 512; from += 16) {
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16384);
    prefetch_l2(w + 32 * from + 16 * (32 * row / 128) + 16400);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(w + 32 * k);
      const vec b1 = load(w + 32 * k + 16);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
    }
  }

  const long group0 = vector / 4;
  const long n0 = 16 * (vector % 4);
  const long group1 = (vector + 1) / 4;
  const long n1 = 16 * ((vector + 1) % 4);

  float* wv_out_at = m.wv_out + 8192 * group0 + 64 * row + n0;
  store(wv_out_at, s00);
  store(wv_out_at + 64, s10);
  store(wv_out_at + 128, s20);
  store(wv_out_at + 192, s30);
  store(wv_out_at + 256, s40);
  store(wv_out_at + 320, s50);
  store(wv_out_at + 384, s60);
  store(wv_out_at + 448, s70);
  float* wv_out_at1 = m.wv_out + 8192 * group1 + 64 * row + n1;
  store(wv_out_at1, s01);
  store(wv_out_at1 + 64, s11);
  store(wv_out_at1 + 128, s21);
  store(wv_out_at1 + 192, s31);
  store(wv_out_at1 + 256, s41);
  store(wv_out_at1 + 320, s51);
  store(wv_out_at1 + 384, s61);
  store(wv_out_at1 + 448, s71);
}

// An item: a slice of the rows against one panel of columns.
[[gnu::noinline]] void project_wq_wk_wv(const Memory& m, long item) {
  const long slice = item % 2;
  const long panel = item / 2;
  if (panel < 11) {
    const float* a = m.x;
    const float* w = m.packed + 24576 * panel + 16384;
    const long vector = 3 * panel;
    if (panel < 10) {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wq_tile_9x48(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wq_tile_8x48(m, a + 512 * row, w, row, vector);
        }
      }
    } else {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wq_tile_9x32(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wq_tile_8x32(m, a + 512 * row, w, row, vector);
        }
      }
    }
  } else if (panel < 22) {
    const float* a = m.x;
    const float* w = m.packed + 24576 * panel + 8192;
    const long vector = 3 * panel - 33;
    if (panel - 11 < 10) {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wk_tile_9x48(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wk_tile_8x48(m, a + 512 * row, w, row, vector);
        }
      }
    } else {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wk_tile_9x32(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wk_tile_8x32(m, a + 512 * row, w, row, vector);
        }
      }
    }
  } else {
    const float* a = m.x;
    const float* w = m.packed + 24576 * panel;
    const long vector = 3 * panel - 66;
    if (panel - 22 < 10) {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wv_tile_9x48(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wv_tile_8x48(m, a + 512 * row, w, row, vector);
        }
      }
    } else {
      for (long tile = 15 * slice / 2; tile < (15 * slice + 15) / 2; ++tile) {
        if (tile < 8) {
          const long row = 9 * tile;
          wv_tile_9x32(m, a + 512 * row, w, row, vector);
        } else {
          const long row = 8 * tile + 8;
          wv_tile_8x32(m, a + 512 * row, w, row, vector);
        }
      }
    }
  }
}

// 8 columns x 48 rows of scores.
[[gnu::noinline]] void attention_scores_8x48(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long two = 0; two < 64; two += 2) {
#pragma GCC unroll 2
    for (long k = two; k < two + 2; ++k) {
      const vec b0 = load(rows + 48 * k);
      const vec b1 = load(rows + 48 * k + 16);
      const vec b2 = load(rows + 48 * k + 32);
      const vec a0 = splat(b[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(b[k + 64]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(b[k + 128]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(b[k + 192]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(b[k + 256]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(b[k + 320]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(b[k + 384]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(b[k + 448]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
    }
  }

  store(scores, s00);
  store(scores + 48, s10);
  store(scores + 96, s20);
  store(scores + 144, s30);
  store(scores + 192, s40);
  store(scores + 240, s50);
  store(scores + 288, s60);
  store(scores + 336, s70);

  const vec high0_0 = max(max(s00, s10), max(s20, s30));
  const vec high1_0 = max(max(s40, s50), max(s60, s70));
  store(block_peak, max(load(block_peak), max(high0_0, high1_0)));

  store(scores + 16, s01);
  store(scores + 64, s11);
  store(scores + 112, s21);
  store(scores + 160, s31);
  store(scores + 208, s41);
  store(scores + 256, s51);
  store(scores + 304, s61);
  store(scores + 352, s71);

  const vec high0_1 = max(max(s01, s11), max(s21, s31));
  const vec high1_1 = max(max(s41, s51), max(s61, s71));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, high1_1)));

  store(scores + 32, s02);
  store(scores + 80, s12);
  store(scores + 128, s22);
  store(scores + 176, s32);
  store(scores + 224, s42);
  store(scores + 272, s52);
  store(scores + 320, s62);
  store(scores + 368, s72);

  const vec high0_2 = max(max(s02, s12), max(s22, s32));
  const vec high1_2 = max(max(s42, s52), max(s62, s72));
  store(block_peak + 32, max(load(block_peak + 32), max(high0_2, high1_2)));
}

// 8 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_8x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
  vec s10 = splat(0.0f);
  vec s20 = splat(0.0f);
  vec s30 = splat(0.0f);
  vec s40 = splat(0.0f);
  vec s50 = splat(0.0f);
  vec s60 = splat(0.0f);
  vec s70 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 48, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 96, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 144, x3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  store(scores + 192, x4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  store(scores + 240, x5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  store(scores + 288, x6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  store(scores + 336, x7_0);

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  const vec high1_0 = max(max(x4_0, x5_0), max(x6_0, x7_0));
  store(block_peak, max(load(block_peak), max(high0_0, high1_0)));
}

// 8 columns x 32 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_8x32_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
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
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 48, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 96, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 144, x3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  store(scores + 192, x4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  store(scores + 240, x5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  store(scores + 288, x6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  store(scores + 336, x7_0);

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  const vec high1_0 = max(max(x4_0, x5_0), max(x6_0, x7_0));
  store(block_peak, max(load(block_peak), max(high0_0, high1_0)));

  const ivec row_of_lane1 = isplat(row + 16) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 16, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 64, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 112, x2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  store(scores + 160, x3_1);
  const vec x4_1 = select(iless_equal(isplat(col + 4), row_of_lane1), s41, removed);
  store(scores + 208, x4_1);
  const vec x5_1 = select(iless_equal(isplat(col + 5), row_of_lane1), s51, removed);
  store(scores + 256, x5_1);
  const vec x6_1 = select(iless_equal(isplat(col + 6), row_of_lane1), s61, removed);
  store(scores + 304, x6_1);
  const vec x7_1 = select(iless_equal(isplat(col + 7), row_of_lane1), s71, removed);
  store(scores + 352, x7_1);

  const vec high0_1 = max(max(x0_1, x1_1), max(x2_1, x3_1));
  const vec high1_1 = max(max(x4_1, x5_1), max(x6_1, x7_1));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, high1_1)));
}

// 8 columns x 48 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_8x48_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 48, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 96, x2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  store(scores + 144, x3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  store(scores + 192, x4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  store(scores + 240, x5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  store(scores + 288, x6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  store(scores + 336, x7_0);

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  const vec high1_0 = max(max(x4_0, x5_0), max(x6_0, x7_0));
  store(block_peak, max(load(block_peak), max(high0_0, high1_0)));

  const ivec row_of_lane1 = isplat(row + 16) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 16, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 64, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 112, x2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  store(scores + 160, x3_1);
  const vec x4_1 = select(iless_equal(isplat(col + 4), row_of_lane1), s41, removed);
  store(scores + 208, x4_1);
  const vec x5_1 = select(iless_equal(isplat(col + 5), row_of_lane1), s51, removed);
  store(scores + 256, x5_1);
  const vec x6_1 = select(iless_equal(isplat(col + 6), row_of_lane1), s61, removed);
  store(scores + 304, x6_1);
  const vec x7_1 = select(iless_equal(isplat(col + 7), row_of_lane1), s71, removed);
  store(scores + 352, x7_1);

  const vec high0_1 = max(max(x0_1, x1_1), max(x2_1, x3_1));
  const vec high1_1 = max(max(x4_1, x5_1), max(x6_1, x7_1));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, high1_1)));

  const ivec row_of_lane2 = isplat(row + 32) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 32, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 80, x1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  store(scores + 128, x2_2);
  const vec x3_2 = select(iless_equal(isplat(col + 3), row_of_lane2), s32, removed);
  store(scores + 176, x3_2);
  const vec x4_2 = select(iless_equal(isplat(col + 4), row_of_lane2), s42, removed);
  store(scores + 224, x4_2);
  const vec x5_2 = select(iless_equal(isplat(col + 5), row_of_lane2), s52, removed);
  store(scores + 272, x5_2);
  const vec x6_2 = select(iless_equal(isplat(col + 6), row_of_lane2), s62, removed);
  store(scores + 320, x6_2);
  const vec x7_2 = select(iless_equal(isplat(col + 7), row_of_lane2), s72, removed);
  store(scores + 368, x7_2);

  const vec high0_2 = max(max(x0_2, x1_2), max(x2_2, x3_2));
  const vec high1_2 = max(max(x4_2, x5_2), max(x6_2, x7_2));
  store(block_peak + 32, max(load(block_peak + 32), max(high0_2, high1_2)));
}

// 8 columns x 48 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_8x48(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 16 * (row / 16) + 16;
  const bool some0 = col < high0;
  const long high1 = 16 * (row / 16) + 32;
  const bool some1 = col < high1;
  const long high2 = 16 * (row / 16) + 48;
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 8; ++i) {
        store(scores + 48 * i + 16 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_8x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_scores_8x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 3) {
    attention_scores_8x48_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
}

// Scores of 48 rows become weights; the rows' state follows.
[[gnu::noinline]] void attention_weigh_48(attention_memory& local, long count, bool all) {
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

  const vec old1 = load(local.peak + 16);
  const lanes_t outside1 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
          less_equal(splat(-4.0f) * old1, exponent_of(load(local.block_total + 16))))));
  const vec peak1 =
      select(either(all_lanes(all), outside1), max(old1, load(local.block_peak + 16)), old1);
  store(local.peak + 16, peak1);
  const vec shift1 = splat(0.0f) - peak1;
  store(local.shift + 16, shift1);
  store(local.carry + 16, exp2_nonpositive(old1 - peak1));
  vec total1 = splat(0.0f);

  const vec old2 = load(local.peak + 32);
  const lanes_t outside2 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 32)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 32)),
          less_equal(splat(-4.0f) * old2, exponent_of(load(local.block_total + 32))))));
  const vec peak2 =
      select(either(all_lanes(all), outside2), max(old2, load(local.block_peak + 32)), old2);
  store(local.peak + 32, peak2);
  const vec shift2 = splat(0.0f) - peak2;
  store(local.shift + 32, shift2);
  store(local.carry + 32, exp2_nonpositive(old2 - peak2));
  vec total2 = splat(0.0f);

  for (long j = 0; j < count; ++j) {
    const vec w0 = exp2_near(load(local.scores + 48 * j) + shift0);
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    const vec w1 = exp2_near(load(local.scores + 48 * j + 16) + shift1);
    store(local.scores + 48 * j + 16, w1);
    total1 = total1 + w1;
    const vec w2 = exp2_near(load(local.scores + 48 * j + 32) + shift2);
    store(local.scores + 48 * j + 32, w2);
    total2 = total2 + w2;
  }

  store(local.block_total, total0);
  store(local.block_total + 16, total1);
  store(local.block_total + 32, total2);
}

// 8 columns x 48 rows of weights.
[[gnu::noinline]] void attention_weights_8x48(const Memory& m, const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long c1, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  const vec start2 = load(shift + 32);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  vec s40 = start0, s41 = start1, s42 = start2;
  vec s50 = start0, s51 = start1, s52 = start2;
  vec s60 = start0, s61 = start1, s62 = start2;
  vec s70 = start0, s71 = start1, s72 = start2;
  const long next_head = smaller(c1 + 1, 7);
  const float* next_b = m.wk_out + 8192 * next_head + 64 * col;
  const float* next_v = m.wv_out + 8192 * next_head + 64 * col;
  const long nth = 6 * (col / 8 % 8);
  const long next_row = smaller((row + nth + 80) % 128, 122);
  const float* next_a = m.wq_out + 8192 * c1 + 64 * next_row;
  const float* out = m.heads + 64 * c1 + 512 * smaller(row + nth, 122);
  for (long from = 0; from < 64; from += 16) {
    prefetch_l2(next_b + from);
    prefetch_l2(next_b + from + 64);
    prefetch_l2(next_b + from + 128);
    prefetch_l2(next_b + from + 192);
    prefetch_l2(next_b + from + 256);
    prefetch_l2(next_b + from + 320);
    prefetch_l2(next_b + from + 384);
    prefetch_l2(next_b + from + 448);
    prefetch_l2(next_v + from);
    prefetch_l2(next_v + from + 64);
    prefetch_l2(next_v + from + 128);
    prefetch_l2(next_v + from + 192);
    prefetch_l2(next_v + from + 256);
    prefetch_l2(next_v + from + 320);
    prefetch_l2(next_v + from + 384);
    prefetch_l2(next_v + from + 448);
    prefetch_l2(next_a + from);
    prefetch_l2(next_a + from + 64);
    prefetch_l2(next_a + from + 128);
    prefetch_l2(next_a + from + 192);
    prefetch_l2(next_a + from + 256);
    prefetch_l2(next_a + from + 320);
    prefetch_l2(out + from);
    prefetch_l2(out + from + 512);
    prefetch_l2(out + from + 1024);
    prefetch_l2(out + from + 1536);
    prefetch_l2(out + from + 2048);
    prefetch_l2(out + from + 2560);
    for (long two = from; two < from + 16; two += 2) {
#pragma GCC unroll 2
      for (long k = two; k < two + 2; ++k) {
        const vec b0 = load(rows + 48 * k);
        const vec b1 = load(rows + 48 * k + 16);
        const vec b2 = load(rows + 48 * k + 32);
        const vec a0 = splat(b[k]);
        s00 = fma(a0, b0, s00);
        s01 = fma(a0, b1, s01);
        s02 = fma(a0, b2, s02);
        const vec a1 = splat(b[k + 64]);
        s10 = fma(a1, b0, s10);
        s11 = fma(a1, b1, s11);
        s12 = fma(a1, b2, s12);
        const vec a2 = splat(b[k + 128]);
        s20 = fma(a2, b0, s20);
        s21 = fma(a2, b1, s21);
        s22 = fma(a2, b2, s22);
        const vec a3 = splat(b[k + 192]);
        s30 = fma(a3, b0, s30);
        s31 = fma(a3, b1, s31);
        s32 = fma(a3, b2, s32);
        const vec a4 = splat(b[k + 256]);
        s40 = fma(a4, b0, s40);
        s41 = fma(a4, b1, s41);
        s42 = fma(a4, b2, s42);
        const vec a5 = splat(b[k + 320]);
        s50 = fma(a5, b0, s50);
        s51 = fma(a5, b1, s51);
        s52 = fma(a5, b2, s52);
        const vec a6 = splat(b[k + 384]);
        s60 = fma(a6, b0, s60);
        s61 = fma(a6, b1, s61);
        s62 = fma(a6, b2, s62);
        const vec a7 = splat(b[k + 448]);
        s70 = fma(a7, b0, s70);
        s71 = fma(a7, b1, s71);
        s72 = fma(a7, b2, s72);
      }
    }
  }

  const vec w0_0 = exp2_near(s00);
  store(scores, w0_0);
  const vec w1_0 = exp2_near(s10);
  store(scores + 48, w1_0);
  const vec w2_0 = exp2_near(s20);
  store(scores + 96, w2_0);
  const vec w3_0 = exp2_near(s30);
  store(scores + 144, w3_0);
  const vec w4_0 = exp2_near(s40);
  store(scores + 192, w4_0);
  const vec w5_0 = exp2_near(s50);
  store(scores + 240, w5_0);
  const vec w6_0 = exp2_near(s60);
  store(scores + 288, w6_0);
  const vec w7_0 = exp2_near(s70);
  store(scores + 336, w7_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0 + w5_0 + w6_0 + w7_0);

  const vec w0_1 = exp2_near(s01);
  store(scores + 16, w0_1);
  const vec w1_1 = exp2_near(s11);
  store(scores + 64, w1_1);
  const vec w2_1 = exp2_near(s21);
  store(scores + 112, w2_1);
  const vec w3_1 = exp2_near(s31);
  store(scores + 160, w3_1);
  const vec w4_1 = exp2_near(s41);
  store(scores + 208, w4_1);
  const vec w5_1 = exp2_near(s51);
  store(scores + 256, w5_1);
  const vec w6_1 = exp2_near(s61);
  store(scores + 304, w6_1);
  const vec w7_1 = exp2_near(s71);
  store(scores + 352, w7_1);

  store(block_total + 16,
      load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1 + w5_1 + w6_1 + w7_1);

  const vec w0_2 = exp2_near(s02);
  store(scores + 32, w0_2);
  const vec w1_2 = exp2_near(s12);
  store(scores + 80, w1_2);
  const vec w2_2 = exp2_near(s22);
  store(scores + 128, w2_2);
  const vec w3_2 = exp2_near(s32);
  store(scores + 176, w3_2);
  const vec w4_2 = exp2_near(s42);
  store(scores + 224, w4_2);
  const vec w5_2 = exp2_near(s52);
  store(scores + 272, w5_2);
  const vec w6_2 = exp2_near(s62);
  store(scores + 320, w6_2);
  const vec w7_2 = exp2_near(s72);
  store(scores + 368, w7_2);

  store(block_total + 32,
      load(block_total + 32) + w0_2 + w1_2 + w2_2 + w3_2 + w4_2 + w5_2 + w6_2 + w7_2);
}

// 8 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_8x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
  vec s10 = start0;
  vec s20 = start0;
  vec s30 = start0;
  vec s40 = start0;
  vec s50 = start0;
  vec s60 = start0;
  vec s70 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 48, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 96, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 144, w3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  const vec w4_0 = exp2_near(x4_0);
  store(scores + 192, w4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  const vec w5_0 = exp2_near(x5_0);
  store(scores + 240, w5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  const vec w6_0 = exp2_near(x6_0);
  store(scores + 288, w6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  const vec w7_0 = exp2_near(x7_0);
  store(scores + 336, w7_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0 + w5_0 + w6_0 + w7_0);
}

// 8 columns x 32 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_8x32_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
  vec s20 = start0, s21 = start1;
  vec s30 = start0, s31 = start1;
  vec s40 = start0, s41 = start1;
  vec s50 = start0, s51 = start1;
  vec s60 = start0, s61 = start1;
  vec s70 = start0, s71 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
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
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 48, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 96, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 144, w3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  const vec w4_0 = exp2_near(x4_0);
  store(scores + 192, w4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  const vec w5_0 = exp2_near(x5_0);
  store(scores + 240, w5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  const vec w6_0 = exp2_near(x6_0);
  store(scores + 288, w6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  const vec w7_0 = exp2_near(x7_0);
  store(scores + 336, w7_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0 + w5_0 + w6_0 + w7_0);

  const ivec row_of_lane1 = isplat(row + 16) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 16, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 64, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 112, w2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  const vec w3_1 = exp2_near(x3_1);
  store(scores + 160, w3_1);
  const vec x4_1 = select(iless_equal(isplat(col + 4), row_of_lane1), s41, removed);
  const vec w4_1 = exp2_near(x4_1);
  store(scores + 208, w4_1);
  const vec x5_1 = select(iless_equal(isplat(col + 5), row_of_lane1), s51, removed);
  const vec w5_1 = exp2_near(x5_1);
  store(scores + 256, w5_1);
  const vec x6_1 = select(iless_equal(isplat(col + 6), row_of_lane1), s61, removed);
  const vec w6_1 = exp2_near(x6_1);
  store(scores + 304, w6_1);
  const vec x7_1 = select(iless_equal(isplat(col + 7), row_of_lane1), s71, removed);
  const vec w7_1 = exp2_near(x7_1);
  store(scores + 352, w7_1);

  store(block_total + 16,
      load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1 + w5_1 + w6_1 + w7_1);
}

// 8 columns x 48 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_8x48_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  const vec start2 = load(shift + 32);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  vec s40 = start0, s41 = start1, s42 = start2;
  vec s50 = start0, s51 = start1, s52 = start2;
  vec s60 = start0, s61 = start1, s62 = start2;
  vec s70 = start0, s71 = start1, s72 = start2;
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 64]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 128]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 192]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 48, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 96, w2_0);
  const vec x3_0 = select(iless_equal(isplat(col + 3), row_of_lane0), s30, removed);
  const vec w3_0 = exp2_near(x3_0);
  store(scores + 144, w3_0);
  const vec x4_0 = select(iless_equal(isplat(col + 4), row_of_lane0), s40, removed);
  const vec w4_0 = exp2_near(x4_0);
  store(scores + 192, w4_0);
  const vec x5_0 = select(iless_equal(isplat(col + 5), row_of_lane0), s50, removed);
  const vec w5_0 = exp2_near(x5_0);
  store(scores + 240, w5_0);
  const vec x6_0 = select(iless_equal(isplat(col + 6), row_of_lane0), s60, removed);
  const vec w6_0 = exp2_near(x6_0);
  store(scores + 288, w6_0);
  const vec x7_0 = select(iless_equal(isplat(col + 7), row_of_lane0), s70, removed);
  const vec w7_0 = exp2_near(x7_0);
  store(scores + 336, w7_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0 + w5_0 + w6_0 + w7_0);

  const ivec row_of_lane1 = isplat(row + 16) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 16, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 64, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 112, w2_1);
  const vec x3_1 = select(iless_equal(isplat(col + 3), row_of_lane1), s31, removed);
  const vec w3_1 = exp2_near(x3_1);
  store(scores + 160, w3_1);
  const vec x4_1 = select(iless_equal(isplat(col + 4), row_of_lane1), s41, removed);
  const vec w4_1 = exp2_near(x4_1);
  store(scores + 208, w4_1);
  const vec x5_1 = select(iless_equal(isplat(col + 5), row_of_lane1), s51, removed);
  const vec w5_1 = exp2_near(x5_1);
  store(scores + 256, w5_1);
  const vec x6_1 = select(iless_equal(isplat(col + 6), row_of_lane1), s61, removed);
  const vec w6_1 = exp2_near(x6_1);
  store(scores + 304, w6_1);
  const vec x7_1 = select(iless_equal(isplat(col + 7), row_of_lane1), s71, removed);
  const vec w7_1 = exp2_near(x7_1);
  store(scores + 352, w7_1);

  store(block_total + 16,
      load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1 + w5_1 + w6_1 + w7_1);

  const ivec row_of_lane2 = isplat(row + 32) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 32, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 80, w1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  const vec w2_2 = exp2_near(x2_2);
  store(scores + 128, w2_2);
  const vec x3_2 = select(iless_equal(isplat(col + 3), row_of_lane2), s32, removed);
  const vec w3_2 = exp2_near(x3_2);
  store(scores + 176, w3_2);
  const vec x4_2 = select(iless_equal(isplat(col + 4), row_of_lane2), s42, removed);
  const vec w4_2 = exp2_near(x4_2);
  store(scores + 224, w4_2);
  const vec x5_2 = select(iless_equal(isplat(col + 5), row_of_lane2), s52, removed);
  const vec w5_2 = exp2_near(x5_2);
  store(scores + 272, w5_2);
  const vec x6_2 = select(iless_equal(isplat(col + 6), row_of_lane2), s62, removed);
  const vec w6_2 = exp2_near(x6_2);
  store(scores + 320, w6_2);
  const vec x7_2 = select(iless_equal(isplat(col + 7), row_of_lane2), s72, removed);
  const vec w7_2 = exp2_near(x7_2);
  store(scores + 368, w7_2);

  store(block_total + 32,
      load(block_total + 32) + w0_2 + w1_2 + w2_2 + w3_2 + w4_2 + w5_2 + w6_2 + w7_2);
}

// 8 columns x 48 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_8x48(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 16 * (row / 16) + 16;
  const bool some0 = col < high0;
  const long high1 = 16 * (row / 16) + 32;
  const bool some1 = col < high1;
  const long high2 = 16 * (row / 16) + 48;
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 8; ++i) {
        store(scores + 48 * i + 16 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_8x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_weights_8x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 3) {
    attention_weights_8x48_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
}

// Weights of 48 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_48(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8192 * c1 + 64 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_weights_8x48(m, local.rows, b + 64 * j, local.scores + 48 * j, local.shift,
          local.block_total, c1, row, col + j);
    } else {
      attention_weights_in_part_8x48(b + 64 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
}

// Scores of 48 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_48(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8192 * c1 + 64 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_scores_8x48(local.rows, b + 64 * j, local.scores + 48 * j, local.block_peak);
    } else {
      attention_scores_in_part_8x48(b + 64 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
}

// Of 48 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_48(attention_memory& local, long count) {
  for (long i = 0; i < 48; i += 16) {
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
        store(local.scores + i + 48 * j, carry * load(local.scores + i + 48 * j));
      }
    }
  }
}

// Weights of 48 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_48(const Memory& m, long c1, long row, long col, long from,
    long count, long whole_end, attention_memory& local) {
  // Too large for that: the greatest score becomes the reference.
  const lanes_t inside0 = either(not_less(splat(0x1p+40f), load(local.block_total)),
      both(not_less(splat(0x1p+120f), load(local.block_total)),
          less_equal(splat(-4.0f) * load(local.peak), exponent_of(load(local.block_total)))));
  const lanes_t inside1 = both(inside0,
      either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
              less_equal(splat(-4.0f) * load(local.peak + 16),
                  exponent_of(load(local.block_total + 16))))));
  const lanes_t inside2 = both(inside1,
      either(not_less(splat(0x1p+40f), load(local.block_total + 32)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 32)),
              less_equal(splat(-4.0f) * load(local.peak + 32),
                  exponent_of(load(local.block_total + 32))))));
  if (any(negation(inside2))) {
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    store(local.block_peak + 32, splat(-__FLT_MAX__));
    attention_scores_of_48(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_48(local, from, false);
    attention_weights_of_48(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_48(local, count);
}

// 6 rows x 64 columns of the result, over `count` weights each, times the rows' factors.
[[gnu::noinline]] void attention_results_6x64(const float* weights, const float* v, long count,
    float* out, const float* factors, float* odd) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f), s53 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    s53 = fma(a5, b3, s53);
  }

  // 0 * x is 0, or NaN if x is not finite.
  const vec zero = splat(0.0f);
  vec odd0 = load(odd);
  vec odd1 = zero;
  vec odd2 = zero;
  vec odd3 = zero;
  const vec f0 = splat(factors[0]);
  s00 = f0 * s00;
  store(out, s00);
  odd0 = fma(zero, s00, odd0);
  s01 = f0 * s01;
  store(out + 16, s01);
  odd1 = fma(zero, s01, odd1);
  s02 = f0 * s02;
  store(out + 32, s02);
  odd2 = fma(zero, s02, odd2);
  s03 = f0 * s03;
  store(out + 48, s03);
  odd3 = fma(zero, s03, odd3);
  const vec f1 = splat(factors[1]);
  s10 = f1 * s10;
  store(out + 512, s10);
  odd0 = fma(zero, s10, odd0);
  s11 = f1 * s11;
  store(out + 528, s11);
  odd1 = fma(zero, s11, odd1);
  s12 = f1 * s12;
  store(out + 544, s12);
  odd2 = fma(zero, s12, odd2);
  s13 = f1 * s13;
  store(out + 560, s13);
  odd3 = fma(zero, s13, odd3);
  const vec f2 = splat(factors[2]);
  s20 = f2 * s20;
  store(out + 1024, s20);
  odd0 = fma(zero, s20, odd0);
  s21 = f2 * s21;
  store(out + 1040, s21);
  odd1 = fma(zero, s21, odd1);
  s22 = f2 * s22;
  store(out + 1056, s22);
  odd2 = fma(zero, s22, odd2);
  s23 = f2 * s23;
  store(out + 1072, s23);
  odd3 = fma(zero, s23, odd3);
  const vec f3 = splat(factors[3]);
  s30 = f3 * s30;
  store(out + 1536, s30);
  odd0 = fma(zero, s30, odd0);
  s31 = f3 * s31;
  store(out + 1552, s31);
  odd1 = fma(zero, s31, odd1);
  s32 = f3 * s32;
  store(out + 1568, s32);
  odd2 = fma(zero, s32, odd2);
  s33 = f3 * s33;
  store(out + 1584, s33);
  odd3 = fma(zero, s33, odd3);
  const vec f4 = splat(factors[4]);
  s40 = f4 * s40;
  store(out + 2048, s40);
  odd0 = fma(zero, s40, odd0);
  s41 = f4 * s41;
  store(out + 2064, s41);
  odd1 = fma(zero, s41, odd1);
  s42 = f4 * s42;
  store(out + 2080, s42);
  odd2 = fma(zero, s42, odd2);
  s43 = f4 * s43;
  store(out + 2096, s43);
  odd3 = fma(zero, s43, odd3);
  const vec f5 = splat(factors[5]);
  s50 = f5 * s50;
  store(out + 2560, s50);
  odd0 = fma(zero, s50, odd0);
  s51 = f5 * s51;
  store(out + 2576, s51);
  odd1 = fma(zero, s51, odd1);
  s52 = f5 * s52;
  store(out + 2592, s52);
  odd2 = fma(zero, s52, odd2);
  s53 = f5 * s53;
  store(out + 2608, s53);
  odd3 = fma(zero, s53, odd3);
  store(odd, odd0 + odd1 + odd2 + odd3);
}

// Weights of 48 rows and `count` columns, which are all that there are, become results.
[[gnu::noinline]] void attention_results_of_48(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));
  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));
  store(local.carry + 32, splat(1.0f) / load(local.total + 32));

  for (long i = 0; i < 48; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_results_6x64(local.scores + i, v, end, out + 512 * i, local.carry + i, local.odd);
  }
}

// 48 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_48(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  store(local.block_total + 32, splat(0.0f));
  // The first columns give each row the score that the others are compared with.
  {
    const float* b = m.wk_out + 8192 * c1 + 64 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    store(local.block_peak + 32, splat(-__FLT_MAX__));
    if (col < whole_end) {
      attention_scores_8x48(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_8x48(b, local.scores, row, col, local);
    }
    attention_weigh_48(local, 8, true);
  }

  attention_weights_of_48(m, c1, row, col, 8, count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  const lanes_t inside2 = both(inside1, not_less(splat(0x1p+40f), load(local.block_total + 32)));
  if (any(negation(inside2))) {
    attention_mend_48(m, c1, row, col, 8, count, whole_end, local);
  }

  attention_results_of_48(m, c1, row, col, count, local);
}

// Scores of 48 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_48_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.125f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 16);
  const vec peak1 = max(old1, splat(0.125f) * load(local.block_peak + 16));
  store(local.peak + 16, peak1);
  store(local.carry + 16,
      select(both(less(old1, peak1), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  const vec old2 = load(local.peak + 32);
  const vec peak2 = max(old2, splat(0.125f) * load(local.block_peak + 32));
  store(local.peak + 32, peak2);
  store(local.carry + 32,
      select(both(less(old2, peak2), equal(load(local.kept + 32), splat(1.0f))),
          exp_nonpositive(old2 - peak2), splat(1.0f)));
  vec total2 = splat(0.0f);
  lanes_t all2 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.125f) * load(local.scores + 48 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.125f) * load(local.scores + 48 * j + 16);
    const lanes_t hole1 = equal(score1, removed);
    const vec w1 = select(hole1, splat(-0.0f), exp_nonpositive(score1 - peak1) + splat(0.0f));
    store(local.scores + 48 * j + 16, w1);
    total1 = total1 + w1;
    all1 = both(all1, hole1);
    const vec score2 = splat(0.125f) * load(local.scores + 48 * j + 32);
    const lanes_t hole2 = equal(score2, removed);
    const vec w2 = select(hole2, splat(-0.0f), exp_nonpositive(score2 - peak2) + splat(0.0f));
    store(local.scores + 48 * j + 32, w2);
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

  store(local.block_total + 16, total1);
  store(local.kept + 16, select(all1, load(local.kept + 16), splat(1.0f)));

  store(local.block_total + 32, total2);
  store(local.kept + 32, select(all2, load(local.kept + 32), splat(1.0f)));
}

// What 48 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_48(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));
  store(local.total + 32, load(local.carry + 32) * load(local.total + 32));

  float* out = m.heads + 64 * c1 + 512 * row;
  for (long i = 0; i < 48; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 64; n += 16) {
      store(out + 512 * i + n, carry * load(out + 512 * i + n));
    }
  }
}

// 6 rows x 64 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_6x64_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f), s53 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < before_holes; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    s53 = fma(a5, b3, s53);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec b0 = load(v + 64 * k);
      const vec b1 = load(v + 64 * k + 16);
      const vec b2 = load(v + 64 * k + 32);
      const vec b3 = load(v + 64 * k + 48);
      const vec a0 = splat(weights[48 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      s00 = fma_unless(hole0, a0, b0, s00);
      s01 = fma_unless(hole0, a0, b1, s01);
      s02 = fma_unless(hole0, a0, b2, s02);
      s03 = fma_unless(hole0, a0, b3, s03);
      const vec a1 = splat(weights[48 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      s10 = fma_unless(hole1, a1, b0, s10);
      s11 = fma_unless(hole1, a1, b1, s11);
      s12 = fma_unless(hole1, a1, b2, s12);
      s13 = fma_unless(hole1, a1, b3, s13);
      const vec a2 = splat(weights[48 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      s20 = fma_unless(hole2, a2, b0, s20);
      s21 = fma_unless(hole2, a2, b1, s21);
      s22 = fma_unless(hole2, a2, b2, s22);
      s23 = fma_unless(hole2, a2, b3, s23);
      const vec a3 = splat(weights[48 * k + 3]);
      const lanes_t hole3 = is_minus_zero(a3);
      s30 = fma_unless(hole3, a3, b0, s30);
      s31 = fma_unless(hole3, a3, b1, s31);
      s32 = fma_unless(hole3, a3, b2, s32);
      s33 = fma_unless(hole3, a3, b3, s33);
      const vec a4 = splat(weights[48 * k + 4]);
      const lanes_t hole4 = is_minus_zero(a4);
      s40 = fma_unless(hole4, a4, b0, s40);
      s41 = fma_unless(hole4, a4, b1, s41);
      s42 = fma_unless(hole4, a4, b2, s42);
      s43 = fma_unless(hole4, a4, b3, s43);
      const vec a5 = splat(weights[48 * k + 5]);
      const lanes_t hole5 = is_minus_zero(a5);
      s50 = fma_unless(hole5, a5, b0, s50);
      s51 = fma_unless(hole5, a5, b1, s51);
      s52 = fma_unless(hole5, a5, b2, s52);
      s53 = fma_unless(hole5, a5, b3, s53);
    } else {
      const vec b0 = load(v + 64 * k);
      const vec b1 = load(v + 64 * k + 16);
      const vec b2 = load(v + 64 * k + 32);
      const vec b3 = load(v + 64 * k + 48);
      const vec a0 = splat(weights[48 * k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      s03 = fma(a0, b3, s03);
      const vec a1 = splat(weights[48 * k + 1]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      s13 = fma(a1, b3, s13);
      const vec a2 = splat(weights[48 * k + 2]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      s23 = fma(a2, b3, s23);
      const vec a3 = splat(weights[48 * k + 3]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      s33 = fma(a3, b3, s33);
      const vec a4 = splat(weights[48 * k + 4]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      s43 = fma(a4, b3, s43);
      const vec a5 = splat(weights[48 * k + 5]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      s53 = fma(a5, b3, s53);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load(out + 32);
    s03 = s03 + load(out + 48);
    s10 = s10 + load(out + 512);
    s11 = s11 + load(out + 528);
    s12 = s12 + load(out + 544);
    s13 = s13 + load(out + 560);
    s20 = s20 + load(out + 1024);
    s21 = s21 + load(out + 1040);
    s22 = s22 + load(out + 1056);
    s23 = s23 + load(out + 1072);
    s30 = s30 + load(out + 1536);
    s31 = s31 + load(out + 1552);
    s32 = s32 + load(out + 1568);
    s33 = s33 + load(out + 1584);
    s40 = s40 + load(out + 2048);
    s41 = s41 + load(out + 2064);
    s42 = s42 + load(out + 2080);
    s43 = s43 + load(out + 2096);
    s50 = s50 + load(out + 2560);
    s51 = s51 + load(out + 2576);
    s52 = s52 + load(out + 2592);
    s53 = s53 + load(out + 2608);
  }

  store(out, s00);
  store(out + 16, s01);
  store(out + 32, s02);
  store(out + 48, s03);
  store(out + 512, s10);
  store(out + 528, s11);
  store(out + 544, s12);
  store(out + 560, s13);
  store(out + 1024, s20);
  store(out + 1040, s21);
  store(out + 1056, s22);
  store(out + 1072, s23);
  store(out + 1536, s30);
  store(out + 1552, s31);
  store(out + 1568, s32);
  store(out + 1584, s33);
  store(out + 2048, s40);
  store(out + 2064, s41);
  store(out + 2080, s42);
  store(out + 2096, s43);
  store(out + 2560, s50);
  store(out + 2576, s51);
  store(out + 2592, s52);
  store(out + 2608, s53);
}

// Weights of 48 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_48_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));
  const long before = long(local.holes[128]);

  for (long i = 0; i < 48; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_values_6x64_with_holes(local.scores + i, v, end, out + 512 * i, local.holes,
        smaller(larger(before, 0), end), fresh);
  }
}

// 6 rows x 64 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_6x64(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f), s53 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    s53 = fma(a5, b3, s53);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load(out + 32);
    s03 = s03 + load(out + 48);
    s10 = s10 + load(out + 512);
    s11 = s11 + load(out + 528);
    s12 = s12 + load(out + 544);
    s13 = s13 + load(out + 560);
    s20 = s20 + load(out + 1024);
    s21 = s21 + load(out + 1040);
    s22 = s22 + load(out + 1056);
    s23 = s23 + load(out + 1072);
    s30 = s30 + load(out + 1536);
    s31 = s31 + load(out + 1552);
    s32 = s32 + load(out + 1568);
    s33 = s33 + load(out + 1584);
    s40 = s40 + load(out + 2048);
    s41 = s41 + load(out + 2064);
    s42 = s42 + load(out + 2080);
    s43 = s43 + load(out + 2096);
    s50 = s50 + load(out + 2560);
    s51 = s51 + load(out + 2576);
    s52 = s52 + load(out + 2592);
    s53 = s53 + load(out + 2608);
  }

  store(out, s00);
  store(out + 16, s01);
  store(out + 32, s02);
  store(out + 48, s03);
  store(out + 512, s10);
  store(out + 528, s11);
  store(out + 544, s12);
  store(out + 560, s13);
  store(out + 1024, s20);
  store(out + 1040, s21);
  store(out + 1056, s22);
  store(out + 1072, s23);
  store(out + 1536, s30);
  store(out + 1552, s31);
  store(out + 1568, s32);
  store(out + 1584, s33);
  store(out + 2048, s40);
  store(out + 2064, s41);
  store(out + 2080, s42);
  store(out + 2096, s43);
  store(out + 2560, s50);
  store(out + 2576, s51);
  store(out + 2592, s52);
  store(out + 2608, s53);
}

// Weights of 48 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_48(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));

  for (long i = 0; i < 48; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_values_6x64(local.scores + i, v, end, out + 512 * i, fresh);
  }
}

// 48 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_48_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  store(local.block_peak + 32, splat(-__builtin_inff()));
  attention_scores_of_48(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_48_safely(local, count);
  if (!fresh) {
    attention_carry_over_48(m, c1, row, local);
  }

  if (long(local.holes[128]) < count) {
    attention_fold_48_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_48(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_48_rows_safely(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 48 * nth;
  const float* a = m.wq_out + 8192 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 512 * row;

  for (long i = 0; i < 48; ++i) {
    for (long n = 0; n < 64; n += 16) {
      store(local.fast + 64 * i + n, load(out + 512 * i + n));
    }
  }

  for (long r = 0; r < 48; r += 16) {
    for (long k = 0; k < 64; k += 16) {
      transpose_block(a + 64 * r + k, 64, local.rows + 48 * k + r, 48, splat(1.0f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.peak + 32, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.total + 32, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  store(local.kept + 32, splat(0.0f));
  bool fresh = true;
  const long whole_end = 48 * nth;
  const long end = 48 * nth + 48;
  for (long col = 0; col < end; col += 128) {
    attention_visit_48_safely(m, c1, row, col, smaller(128, end - col), whole_end, local, fresh);
    fresh = false;
  }

  store(local.carry,
      select(equal(load(local.kept), splat(1.0f)), splat(1.0f) / load(local.total), splat(0.0f)));
  store(local.carry + 16,
      select(equal(load(local.kept + 16), splat(1.0f)), splat(1.0f) / load(local.total + 16),
          splat(0.0f)));
  store(local.carry + 32,
      select(equal(load(local.kept + 32), splat(1.0f)), splat(1.0f) / load(local.total + 32),
          splat(0.0f)));
  for (long i = 0; i < 48; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 16) {
      const vec x = load(local.fast + 64 * i + n);
      odd = odd + (x - x);
    }
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 64; n += 16) {
        store(out + 512 * i + n, factor * load(out + 512 * i + n));
      }
    } else {
      for (long n = 0; n < 64; n += 16) {
        store(out + 512 * i + n, load(local.fast + 64 * i + n));
      }
    }
  }
}

// The nth of 2 blocks of 48 rows.
[[gnu::noinline]] void attention_48_rows(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 48 * nth;
  const float* a = m.wq_out + 8192 * c1 + 64 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 48; r += 16) {
    for (long k = 0; k < 64; k += 16) {
      transpose_block(a + 64 * r + k, 64, local.rows + 48 * k + r, 48, splat(0.18033688f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));
  store(local.peak + 32, splat(-__FLT_MAX__));
  store(local.total + 32, splat(0.0f));
  store(local.odd, splat(0.0f));

  const long whole_end = 48 * nth;
  const long end = 48 * nth + 48;
  attention_visit_48(m, c1, row, 0, end, whole_end, local);

  if (has_nan(load(local.odd))) {
    attention_48_rows_safely(m, c1, nth, local);
  }
}

// 8 columns x 32 rows of scores.
[[gnu::noinline]] void attention_scores_8x32(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 64; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
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
    const vec a4 = splat(b[k + 256]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(b[k + 320]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(b[k + 384]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(b[k + 448]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
  }

  store(scores, s00);
  store(scores + 48, s10);
  store(scores + 96, s20);
  store(scores + 144, s30);
  store(scores + 192, s40);
  store(scores + 240, s50);
  store(scores + 288, s60);
  store(scores + 336, s70);

  const vec high0_0 = max(max(s00, s10), max(s20, s30));
  const vec high1_0 = max(max(s40, s50), max(s60, s70));
  store(block_peak, max(load(block_peak), max(high0_0, high1_0)));

  store(scores + 16, s01);
  store(scores + 64, s11);
  store(scores + 112, s21);
  store(scores + 160, s31);
  store(scores + 208, s41);
  store(scores + 256, s51);
  store(scores + 304, s61);
  store(scores + 352, s71);

  const vec high0_1 = max(max(s01, s11), max(s21, s31));
  const vec high1_1 = max(max(s41, s51), max(s61, s71));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, high1_1)));
}

// 8 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_8x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 16 * (row / 16) + 16;
  const bool some0 = col < high0;
  const long high1 = 16 * (row / 16) + 32;
  const bool some1 = col < high1;
  const long first = some0 ? 0 : (some1 ? 1 : 2);
  const long end = some1 ? 2 : (some0 ? 1 : 0);
  for (long v = 0; v < 2; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 8; ++i) {
        store(scores + 48 * i + 16 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_8x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_scores_8x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
}

// Scores of 32 rows become weights; the rows' state follows.
[[gnu::noinline]] void attention_weigh_32(attention_memory& local, long count, bool all) {
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

  const vec old1 = load(local.peak + 16);
  const lanes_t outside1 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
          less_equal(splat(-4.0f) * old1, exponent_of(load(local.block_total + 16))))));
  const vec peak1 =
      select(either(all_lanes(all), outside1), max(old1, load(local.block_peak + 16)), old1);
  store(local.peak + 16, peak1);
  const vec shift1 = splat(0.0f) - peak1;
  store(local.shift + 16, shift1);
  store(local.carry + 16, exp2_nonpositive(old1 - peak1));
  vec total1 = splat(0.0f);

  for (long j = 0; j < count; ++j) {
    const vec w0 = exp2_near(load(local.scores + 48 * j) + shift0);
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    const vec w1 = exp2_near(load(local.scores + 48 * j + 16) + shift1);
    store(local.scores + 48 * j + 16, w1);
    total1 = total1 + w1;
  }

  store(local.block_total, total0);
  store(local.block_total + 16, total1);
}

// 8 columns x 32 rows of weights.
[[gnu::noinline]] void attention_weights_8x32(const Memory& m, const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long c1, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
  vec s20 = start0, s21 = start1;
  vec s30 = start0, s31 = start1;
  vec s40 = start0, s41 = start1;
  vec s50 = start0, s51 = start1;
  vec s60 = start0, s61 = start1;
  vec s70 = start0, s71 = start1;
  const long next_head = smaller(c1 + 1, 7);
  const float* next_b = m.wk_out + 8192 * next_head + 64 * col;
  const float* next_v = m.wv_out + 8192 * next_head + 64 * col;
  const long nth = 6 * (col / 8 % 8);
  const long next_row = smaller((row + nth + 80) % 128, 122);
  const float* next_a = m.wq_out + 8192 * c1 + 64 * next_row;
  const float* out = m.heads + 64 * c1 + 512 * smaller(row + nth, 122);
  for (long from = 0; from < 64; from += 16) {
    prefetch_l2(next_b + from);
    prefetch_l2(next_b + from + 64);
    prefetch_l2(next_b + from + 128);
    prefetch_l2(next_b + from + 192);
    prefetch_l2(next_b + from + 256);
    prefetch_l2(next_b + from + 320);
    prefetch_l2(next_b + from + 384);
    prefetch_l2(next_b + from + 448);
    prefetch_l2(next_v + from);
    prefetch_l2(next_v + from + 64);
    prefetch_l2(next_v + from + 128);
    prefetch_l2(next_v + from + 192);
    prefetch_l2(next_v + from + 256);
    prefetch_l2(next_v + from + 320);
    prefetch_l2(next_v + from + 384);
    prefetch_l2(next_v + from + 448);
    prefetch_l2(next_a + from);
    prefetch_l2(next_a + from + 64);
    prefetch_l2(next_a + from + 128);
    prefetch_l2(next_a + from + 192);
    prefetch_l2(next_a + from + 256);
    prefetch_l2(next_a + from + 320);
    prefetch_l2(out + from);
    prefetch_l2(out + from + 512);
    prefetch_l2(out + from + 1024);
    prefetch_l2(out + from + 1536);
    prefetch_l2(out + from + 2048);
    prefetch_l2(out + from + 2560);
#pragma GCC unroll 4
    for (long k = from; k < from + 16; ++k) {
      const vec b0 = load(rows + 48 * k);
      const vec b1 = load(rows + 48 * k + 16);
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
      const vec a4 = splat(b[k + 256]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      const vec a5 = splat(b[k + 320]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      const vec a6 = splat(b[k + 384]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      const vec a7 = splat(b[k + 448]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
    }
  }

  const vec w0_0 = exp2_near(s00);
  store(scores, w0_0);
  const vec w1_0 = exp2_near(s10);
  store(scores + 48, w1_0);
  const vec w2_0 = exp2_near(s20);
  store(scores + 96, w2_0);
  const vec w3_0 = exp2_near(s30);
  store(scores + 144, w3_0);
  const vec w4_0 = exp2_near(s40);
  store(scores + 192, w4_0);
  const vec w5_0 = exp2_near(s50);
  store(scores + 240, w5_0);
  const vec w6_0 = exp2_near(s60);
  store(scores + 288, w6_0);
  const vec w7_0 = exp2_near(s70);
  store(scores + 336, w7_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0 + w5_0 + w6_0 + w7_0);

  const vec w0_1 = exp2_near(s01);
  store(scores + 16, w0_1);
  const vec w1_1 = exp2_near(s11);
  store(scores + 64, w1_1);
  const vec w2_1 = exp2_near(s21);
  store(scores + 112, w2_1);
  const vec w3_1 = exp2_near(s31);
  store(scores + 160, w3_1);
  const vec w4_1 = exp2_near(s41);
  store(scores + 208, w4_1);
  const vec w5_1 = exp2_near(s51);
  store(scores + 256, w5_1);
  const vec w6_1 = exp2_near(s61);
  store(scores + 304, w6_1);
  const vec w7_1 = exp2_near(s71);
  store(scores + 352, w7_1);

  store(block_total + 16,
      load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1 + w5_1 + w6_1 + w7_1);
}

// 8 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_8x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 16 * (row / 16) + 16;
  const bool some0 = col < high0;
  const long high1 = 16 * (row / 16) + 32;
  const bool some1 = col < high1;
  const long first = some0 ? 0 : (some1 ? 1 : 2);
  const long end = some1 ? 2 : (some0 ? 1 : 0);
  for (long v = 0; v < 2; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 8; ++i) {
        store(scores + 48 * i + 16 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_8x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_weights_8x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
}

// Weights of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8192 * c1 + 64 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_weights_8x32(m, local.rows, b + 64 * j, local.scores + 48 * j, local.shift,
          local.block_total, c1, row, col + j);
    } else {
      attention_weights_in_part_8x32(b + 64 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
}

// Scores of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.wk_out + 8192 * c1 + 64 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_scores_8x32(local.rows, b + 64 * j, local.scores + 48 * j, local.block_peak);
    } else {
      attention_scores_in_part_8x32(b + 64 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
}

// Of 32 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_32(attention_memory& local, long count) {
  for (long i = 0; i < 32; i += 16) {
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
        store(local.scores + i + 48 * j, carry * load(local.scores + i + 48 * j));
      }
    }
  }
}

// Weights of 32 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_32(const Memory& m, long c1, long row, long col, long from,
    long count, long whole_end, attention_memory& local) {
  // Too large for that: the greatest score becomes the reference.
  const lanes_t inside0 = either(not_less(splat(0x1p+40f), load(local.block_total)),
      both(not_less(splat(0x1p+120f), load(local.block_total)),
          less_equal(splat(-4.0f) * load(local.peak), exponent_of(load(local.block_total)))));
  const lanes_t inside1 = both(inside0,
      either(not_less(splat(0x1p+40f), load(local.block_total + 16)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 16)),
              less_equal(splat(-4.0f) * load(local.peak + 16),
                  exponent_of(load(local.block_total + 16))))));
  if (any(negation(inside1))) {
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    attention_scores_of_32(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_32(local, from, false);
    attention_weights_of_32(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_32(local, count);
}

// 5 rows x 64 columns of the result, over `count` weights each, times the rows' factors.
[[gnu::noinline]] void attention_results_5x64(const float* weights, const float* v, long count,
    float* out, const float* factors, float* odd) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
  }

  // 0 * x is 0, or NaN if x is not finite.
  const vec zero = splat(0.0f);
  vec odd0 = load(odd);
  vec odd1 = zero;
  vec odd2 = zero;
  vec odd3 = zero;
  const vec f0 = splat(factors[0]);
  s00 = f0 * s00;
  store(out, s00);
  odd0 = fma(zero, s00, odd0);
  s01 = f0 * s01;
  store(out + 16, s01);
  odd1 = fma(zero, s01, odd1);
  s02 = f0 * s02;
  store(out + 32, s02);
  odd2 = fma(zero, s02, odd2);
  s03 = f0 * s03;
  store(out + 48, s03);
  odd3 = fma(zero, s03, odd3);
  const vec f1 = splat(factors[1]);
  s10 = f1 * s10;
  store(out + 512, s10);
  odd0 = fma(zero, s10, odd0);
  s11 = f1 * s11;
  store(out + 528, s11);
  odd1 = fma(zero, s11, odd1);
  s12 = f1 * s12;
  store(out + 544, s12);
  odd2 = fma(zero, s12, odd2);
  s13 = f1 * s13;
  store(out + 560, s13);
  odd3 = fma(zero, s13, odd3);
  const vec f2 = splat(factors[2]);
  s20 = f2 * s20;
  store(out + 1024, s20);
  odd0 = fma(zero, s20, odd0);
  s21 = f2 * s21;
  store(out + 1040, s21);
  odd1 = fma(zero, s21, odd1);
  s22 = f2 * s22;
  store(out + 1056, s22);
  odd2 = fma(zero, s22, odd2);
  s23 = f2 * s23;
  store(out + 1072, s23);
  odd3 = fma(zero, s23, odd3);
  const vec f3 = splat(factors[3]);
  s30 = f3 * s30;
  store(out + 1536, s30);
  odd0 = fma(zero, s30, odd0);
  s31 = f3 * s31;
  store(out + 1552, s31);
  odd1 = fma(zero, s31, odd1);
  s32 = f3 * s32;
  store(out + 1568, s32);
  odd2 = fma(zero, s32, odd2);
  s33 = f3 * s33;
  store(out + 1584, s33);
  odd3 = fma(zero, s33, odd3);
  const vec f4 = splat(factors[4]);
  s40 = f4 * s40;
  store(out + 2048, s40);
  odd0 = fma(zero, s40, odd0);
  s41 = f4 * s41;
  store(out + 2064, s41);
  odd1 = fma(zero, s41, odd1);
  s42 = f4 * s42;
  store(out + 2080, s42);
  odd2 = fma(zero, s42, odd2);
  s43 = f4 * s43;
  store(out + 2096, s43);
  odd3 = fma(zero, s43, odd3);
  store(odd, odd0 + odd1 + odd2 + odd3);
}

// Weights of 32 rows and `count` columns, which are all that there are, become results.
[[gnu::noinline]] void attention_results_of_32(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));

  for (long i = 0; i < 12; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_results_6x64(local.scores + i, v, end, out + 512 * i, local.carry + i, local.odd);
  }
  for (long i = 12; i < 32; i += 5) {
    const long high_last = row + i + 5;
    const long end = smaller(high_last - col, count);
    attention_results_5x64(local.scores + i, v, end, out + 512 * i, local.carry + i, local.odd);
  }
}

// 32 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_32(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  // The first columns give each row the score that the others are compared with.
  {
    const float* b = m.wk_out + 8192 * c1 + 64 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    if (col < whole_end) {
      attention_scores_8x32(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_8x32(b, local.scores, row, col, local);
    }
    attention_weigh_32(local, 8, true);
  }

  attention_weights_of_32(m, c1, row, col, 8, count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  if (any(negation(inside1))) {
    attention_mend_32(m, c1, row, col, 8, count, whole_end, local);
  }

  attention_results_of_32(m, c1, row, col, count, local);
}

// Scores of 32 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_32_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.125f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 16);
  const vec peak1 = max(old1, splat(0.125f) * load(local.block_peak + 16));
  store(local.peak + 16, peak1);
  store(local.carry + 16,
      select(both(less(old1, peak1), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.125f) * load(local.scores + 48 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.125f) * load(local.scores + 48 * j + 16);
    const lanes_t hole1 = equal(score1, removed);
    const vec w1 = select(hole1, splat(-0.0f), exp_nonpositive(score1 - peak1) + splat(0.0f));
    store(local.scores + 48 * j + 16, w1);
    total1 = total1 + w1;
    all1 = both(all1, hole1);
    const bool hole = any(either(hole0, hole1));
    local.holes[j] = hole ? 1.0f : 0.0f;
    some = some || hole;
    before_holes = some ? before_holes : j + 1;
  }

  local.holes[128] = float(before_holes);

  store(local.block_total, total0);
  store(local.kept, select(all0, load(local.kept), splat(1.0f)));

  store(local.block_total + 16, total1);
  store(local.kept + 16, select(all1, load(local.kept + 16), splat(1.0f)));
}

// What 32 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_32(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));

  float* out = m.heads + 64 * c1 + 512 * row;
  for (long i = 0; i < 32; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 64; n += 16) {
      store(out + 512 * i + n, carry * load(out + 512 * i + n));
    }
  }
}

// 5 rows x 64 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_5x64_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < before_holes; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec b0 = load(v + 64 * k);
      const vec b1 = load(v + 64 * k + 16);
      const vec b2 = load(v + 64 * k + 32);
      const vec b3 = load(v + 64 * k + 48);
      const vec a0 = splat(weights[48 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      s00 = fma_unless(hole0, a0, b0, s00);
      s01 = fma_unless(hole0, a0, b1, s01);
      s02 = fma_unless(hole0, a0, b2, s02);
      s03 = fma_unless(hole0, a0, b3, s03);
      const vec a1 = splat(weights[48 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      s10 = fma_unless(hole1, a1, b0, s10);
      s11 = fma_unless(hole1, a1, b1, s11);
      s12 = fma_unless(hole1, a1, b2, s12);
      s13 = fma_unless(hole1, a1, b3, s13);
      const vec a2 = splat(weights[48 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      s20 = fma_unless(hole2, a2, b0, s20);
      s21 = fma_unless(hole2, a2, b1, s21);
      s22 = fma_unless(hole2, a2, b2, s22);
      s23 = fma_unless(hole2, a2, b3, s23);
      const vec a3 = splat(weights[48 * k + 3]);
      const lanes_t hole3 = is_minus_zero(a3);
      s30 = fma_unless(hole3, a3, b0, s30);
      s31 = fma_unless(hole3, a3, b1, s31);
      s32 = fma_unless(hole3, a3, b2, s32);
      s33 = fma_unless(hole3, a3, b3, s33);
      const vec a4 = splat(weights[48 * k + 4]);
      const lanes_t hole4 = is_minus_zero(a4);
      s40 = fma_unless(hole4, a4, b0, s40);
      s41 = fma_unless(hole4, a4, b1, s41);
      s42 = fma_unless(hole4, a4, b2, s42);
      s43 = fma_unless(hole4, a4, b3, s43);
    } else {
      const vec b0 = load(v + 64 * k);
      const vec b1 = load(v + 64 * k + 16);
      const vec b2 = load(v + 64 * k + 32);
      const vec b3 = load(v + 64 * k + 48);
      const vec a0 = splat(weights[48 * k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      s03 = fma(a0, b3, s03);
      const vec a1 = splat(weights[48 * k + 1]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      s13 = fma(a1, b3, s13);
      const vec a2 = splat(weights[48 * k + 2]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      s23 = fma(a2, b3, s23);
      const vec a3 = splat(weights[48 * k + 3]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      s33 = fma(a3, b3, s33);
      const vec a4 = splat(weights[48 * k + 4]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      s43 = fma(a4, b3, s43);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load(out + 32);
    s03 = s03 + load(out + 48);
    s10 = s10 + load(out + 512);
    s11 = s11 + load(out + 528);
    s12 = s12 + load(out + 544);
    s13 = s13 + load(out + 560);
    s20 = s20 + load(out + 1024);
    s21 = s21 + load(out + 1040);
    s22 = s22 + load(out + 1056);
    s23 = s23 + load(out + 1072);
    s30 = s30 + load(out + 1536);
    s31 = s31 + load(out + 1552);
    s32 = s32 + load(out + 1568);
    s33 = s33 + load(out + 1584);
    s40 = s40 + load(out + 2048);
    s41 = s41 + load(out + 2064);
    s42 = s42 + load(out + 2080);
    s43 = s43 + load(out + 2096);
  }

  store(out, s00);
  store(out + 16, s01);
  store(out + 32, s02);
  store(out + 48, s03);
  store(out + 512, s10);
  store(out + 528, s11);
  store(out + 544, s12);
  store(out + 560, s13);
  store(out + 1024, s20);
  store(out + 1040, s21);
  store(out + 1056, s22);
  store(out + 1072, s23);
  store(out + 1536, s30);
  store(out + 1552, s31);
  store(out + 1568, s32);
  store(out + 1584, s33);
  store(out + 2048, s40);
  store(out + 2064, s41);
  store(out + 2080, s42);
  store(out + 2096, s43);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  const long before = long(local.holes[128]);

  for (long i = 0; i < 12; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_values_6x64_with_holes(local.scores + i, v, end, out + 512 * i, local.holes,
        smaller(larger(before, 0), end), fresh);
  }
  for (long i = 12; i < 32; i += 5) {
    const long high_last = row + i + 5;
    const long end = smaller(high_last - col, count);
    attention_values_5x64_with_holes(local.scores + i, v, end, out + 512 * i, local.holes,
        smaller(larger(before, 0), end), fresh);
  }
}

// 5 rows x 64 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_5x64(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f), s33 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f), s43 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 64 * k);
    const vec b1 = load(v + 64 * k + 16);
    const vec b2 = load(v + 64 * k + 32);
    const vec b3 = load(v + 64 * k + 48);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    s03 = fma(a0, b3, s03);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    s13 = fma(a1, b3, s13);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    s23 = fma(a2, b3, s23);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    s33 = fma(a3, b3, s33);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    s43 = fma(a4, b3, s43);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load(out + 32);
    s03 = s03 + load(out + 48);
    s10 = s10 + load(out + 512);
    s11 = s11 + load(out + 528);
    s12 = s12 + load(out + 544);
    s13 = s13 + load(out + 560);
    s20 = s20 + load(out + 1024);
    s21 = s21 + load(out + 1040);
    s22 = s22 + load(out + 1056);
    s23 = s23 + load(out + 1072);
    s30 = s30 + load(out + 1536);
    s31 = s31 + load(out + 1552);
    s32 = s32 + load(out + 1568);
    s33 = s33 + load(out + 1584);
    s40 = s40 + load(out + 2048);
    s41 = s41 + load(out + 2064);
    s42 = s42 + load(out + 2080);
    s43 = s43 + load(out + 2096);
  }

  store(out, s00);
  store(out + 16, s01);
  store(out + 32, s02);
  store(out + 48, s03);
  store(out + 512, s10);
  store(out + 528, s11);
  store(out + 544, s12);
  store(out + 560, s13);
  store(out + 1024, s20);
  store(out + 1040, s21);
  store(out + 1056, s22);
  store(out + 1072, s23);
  store(out + 1536, s30);
  store(out + 1552, s31);
  store(out + 1568, s32);
  store(out + 1584, s33);
  store(out + 2048, s40);
  store(out + 2064, s41);
  store(out + 2080, s42);
  store(out + 2096, s43);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.wv_out + 8192 * c1 + 64 * col;
  float* out = m.heads + 64 * c1 + 512 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));

  for (long i = 0; i < 12; i += 6) {
    const long high_last = row + i + 6;
    const long end = smaller(high_last - col, count);
    attention_values_6x64(local.scores + i, v, end, out + 512 * i, fresh);
  }
  for (long i = 12; i < 32; i += 5) {
    const long high_last = row + i + 5;
    const long end = smaller(high_last - col, count);
    attention_values_5x64(local.scores + i, v, end, out + 512 * i, fresh);
  }
}

// 32 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_32_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  attention_scores_of_32(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_32_safely(local, count);
  if (!fresh) {
    attention_carry_over_32(m, c1, row, local);
  }

  if (long(local.holes[128]) < count) {
    attention_fold_32_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_32(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_32_rows_safely(const Memory& m, long c1, attention_memory& local) {
  const long row = 96;
  const float* a = m.wq_out + 8192 * c1 + 64 * row;
  float* out = m.heads + 64 * c1 + 512 * row;

  for (long i = 0; i < 32; ++i) {
    for (long n = 0; n < 64; n += 16) {
      store(local.fast + 64 * i + n, load(out + 512 * i + n));
    }
  }

  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 64; k += 16) {
      transpose_block(a + 64 * r + k, 64, local.rows + 48 * k + r, 48, splat(1.0f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  bool fresh = true;
  for (long col = 0; col < 128; col += 128) {
    attention_visit_32_safely(m, c1, row, col, smaller(128, 128 - col), 96, local, fresh);
    fresh = false;
  }

  store(local.carry,
      select(equal(load(local.kept), splat(1.0f)), splat(1.0f) / load(local.total), splat(0.0f)));
  store(local.carry + 16,
      select(equal(load(local.kept + 16), splat(1.0f)), splat(1.0f) / load(local.total + 16),
          splat(0.0f)));
  for (long i = 0; i < 32; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 64; n += 16) {
      const vec x = load(local.fast + 64 * i + n);
      odd = odd + (x - x);
    }
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 64; n += 16) {
        store(out + 512 * i + n, factor * load(out + 512 * i + n));
      }
    } else {
      for (long n = 0; n < 64; n += 16) {
        store(out + 512 * i + n, load(local.fast + 64 * i + n));
      }
    }
  }
}

// The one block of 32 rows.
[[gnu::noinline]] void attention_32_rows(const Memory& m, long c1, attention_memory& local) {
  const long row = 96;
  const float* a = m.wq_out + 8192 * c1 + 64 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 64; k += 16) {
      transpose_block(a + 64 * r + k, 64, local.rows + 48 * k + r, 48, splat(0.18033688f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));
  store(local.odd, splat(0.0f));

  attention_visit_32(m, c1, row, 0, 128, 96, local);

  if (has_nan(load(local.odd))) {
    attention_32_rows_safely(m, c1, local);
  }
}

// An item: one block of rows.
[[gnu::noinline]] void attention(const Memory& m, long item, attention_memory& local) {
  const long block = 2 - item % 3;
  const long c1 = item / 3;
  if (block < 2) {
    attention_48_rows(m, c1, block, local);
  } else {
    attention_32_rows(m, c1, local);
  }
}

// 9 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wo_tile_9x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);
  for (long two = 0; two < 512; two += 2) {
#pragma GCC unroll 2
    for (long k = two; k < two + 2; ++k) {
      const vec b0 = load(w + 48 * k);
      const vec b1 = load(w + 48 * k + 16);
      const vec b2 = load(w + 48 * k + 32);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
      const vec a8 = splat(a[k + 4096]);
      s80 = fma(a8, b0, s80);
      s81 = fma(a8, b1, s81);
      s82 = fma(a8, b2, s82);
    }
  }

  const long n = 16 * vector;

  float* out_at = m.out + 512 * row + n;
  store(out_at, s00);
  store(out_at + 512, s10);
  store(out_at + 1024, s20);
  store(out_at + 1536, s30);
  store(out_at + 2048, s40);
  store(out_at + 2560, s50);
  store(out_at + 3072, s60);
  store(out_at + 3584, s70);
  store(out_at + 4096, s80);
  store(out_at + 16, s01);
  store(out_at + 528, s11);
  store(out_at + 1040, s21);
  store(out_at + 1552, s31);
  store(out_at + 2064, s41);
  store(out_at + 2576, s51);
  store(out_at + 3088, s61);
  store(out_at + 3600, s71);
  store(out_at + 4112, s81);
  store(out_at + 32, s02);
  store(out_at + 544, s12);
  store(out_at + 1056, s22);
  store(out_at + 1568, s32);
  store(out_at + 2080, s42);
  store(out_at + 2592, s52);
  store(out_at + 3104, s62);
  store(out_at + 3616, s72);
  store(out_at + 4128, s82);
}

// 8 rows of a times 48 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wo_tile_8x48(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  for (long two = 0; two < 512; two += 2) {
#pragma GCC unroll 2
    for (long k = two; k < two + 2; ++k) {
      const vec b0 = load(w + 48 * k);
      const vec b1 = load(w + 48 * k + 16);
      const vec b2 = load(w + 48 * k + 32);
      const vec a0 = splat(a[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(a[k + 512]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(a[k + 1024]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(a[k + 1536]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(a[k + 2048]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(a[k + 2560]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(a[k + 3072]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(a[k + 3584]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
    }
  }

  const long n = 16 * vector;

  float* out_at = m.out + 512 * row + n;
  store(out_at, s00);
  store(out_at + 512, s10);
  store(out_at + 1024, s20);
  store(out_at + 1536, s30);
  store(out_at + 2048, s40);
  store(out_at + 2560, s50);
  store(out_at + 3072, s60);
  store(out_at + 3584, s70);
  store(out_at + 16, s01);
  store(out_at + 528, s11);
  store(out_at + 1040, s21);
  store(out_at + 1552, s31);
  store(out_at + 2064, s41);
  store(out_at + 2576, s51);
  store(out_at + 3088, s61);
  store(out_at + 3600, s71);
  store(out_at + 32, s02);
  store(out_at + 544, s12);
  store(out_at + 1056, s22);
  store(out_at + 1568, s32);
  store(out_at + 2080, s42);
  store(out_at + 2592, s52);
  store(out_at + 3104, s62);
  store(out_at + 3616, s72);
}

// 9 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wo_tile_9x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 512; ++k) {
    const vec b0 = load(w + 32 * k);
    const vec b1 = load(w + 32 * k + 16);
    const vec a0 = splat(a[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(a[k + 512]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(a[k + 1024]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(a[k + 1536]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(a[k + 2048]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(a[k + 2560]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(a[k + 3072]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(a[k + 3584]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    const vec a8 = splat(a[k + 4096]);
    s80 = fma(a8, b0, s80);
    s81 = fma(a8, b1, s81);
  }

  const long n = 16 * vector;

  float* out_at = m.out + 512 * row + n;
  store(out_at, s00);
  store(out_at + 512, s10);
  store(out_at + 1024, s20);
  store(out_at + 1536, s30);
  store(out_at + 2048, s40);
  store(out_at + 2560, s50);
  store(out_at + 3072, s60);
  store(out_at + 3584, s70);
  store(out_at + 4096, s80);
  store(out_at + 16, s01);
  store(out_at + 528, s11);
  store(out_at + 1040, s21);
  store(out_at + 1552, s31);
  store(out_at + 2064, s41);
  store(out_at + 2576, s51);
  store(out_at + 3088, s61);
  store(out_at + 3600, s71);
  store(out_at + 4112, s81);
}

// 8 rows of a times 32 columns of the panel w, 512 steps deep.
[[gnu::noinline]] void wo_tile_8x32(const Memory& m, const float* a, const float* w, long row,
    long vector) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 512; ++k) {
    const vec b0 = load(w + 32 * k);
    const vec b1 = load(w + 32 * k + 16);
    const vec a0 = splat(a[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(a[k + 512]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(a[k + 1024]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(a[k + 1536]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(a[k + 2048]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(a[k + 2560]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(a[k + 3072]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(a[k + 3584]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
  }

  const long n = 16 * vector;

  float* out_at = m.out + 512 * row + n;
  store(out_at, s00);
  store(out_at + 512, s10);
  store(out_at + 1024, s20);
  store(out_at + 1536, s30);
  store(out_at + 2048, s40);
  store(out_at + 2560, s50);
  store(out_at + 3072, s60);
  store(out_at + 3584, s70);
  store(out_at + 16, s01);
  store(out_at + 528, s11);
  store(out_at + 1040, s21);
  store(out_at + 1552, s31);
  store(out_at + 2064, s41);
  store(out_at + 2576, s51);
  store(out_at + 3088, s61);
  store(out_at + 3600, s71);
}

// An item: a slice of the rows against one panel of columns.
[[gnu::noinline]] void project_wo(const Memory& m, long item) {
  const long slice = item % 3;
  const long panel = item / 3;
  const float* a = m.heads;
  const float* w = m.packed + 24576 * panel + 802816;
  const long vector = 3 * panel;
  if (panel < 10) {
    for (long tile = 15 * slice / 3; tile < (15 * slice + 15) / 3; ++tile) {
      if (tile < 8) {
        const long row = 9 * tile;
        wo_tile_9x48(m, a + 512 * row, w, row, vector);
      } else {
        const long row = 8 * tile + 8;
        wo_tile_8x48(m, a + 512 * row, w, row, vector);
      }
    }
  } else {
    for (long tile = 15 * slice / 3; tile < (15 * slice + 15) / 3; ++tile) {
      if (tile < 8) {
        const long row = 9 * tile;
        wo_tile_9x32(m, a + 512 * row, w, row, vector);
      } else {
        const long row = 8 * tile + 8;
        wo_tile_8x32(m, a + 512 * row, w, row, vector);
      }
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
  attention(m, item, *reinterpret_cast<attention_memory*>(m.local + 12816L * worker));
}

void project_wo_item(const Memory& m, long item, int) {
  project_wo(m, item);
}

}  // namespace

size_t workspace_bytes(int workers) { return 1048576u + 51264u * (size_t)workers; }

size_t packed_bytes() { return 4259840u; }

void pack_weights(const textbook_mha_1_128_512_8_weights* w, float* packed) {
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
    for (long row = 0; row < 128; ++row) {
      float* cosines = packed + 64 * row;
      double angle[32];
      for (long i = 0; i < 32; ++i) {
        angle[i] = double(row) * frequency[i];
      }
      turn<32, true>(cosines, cosines + 8192, angle, 0x1p+0);
    }
    restore_float_state(before);
  }
  // wq: panels of 48 columns, each [512, columns]
  for (long vector = 0; vector < 32; ++vector) {
    const long panel = vector / 3;
    const long width = panel < 10 ? 48 : 32;
    const long place = vector % 4;
    const long column = 16 * place;
    float* to = packed + 24576 * panel + 16 * (vector % 3) + 16384;
    const float* from = w->wq + 512 * (64 * (vector / 4) + column);
    for (long k = 0; k < 512; ++k) {
      for (long lane = 0; lane < 16; ++lane) {
        to[k * width + lane] = from[512 * lane + k];
      }
    }
  }
  // wk: panels of 48 columns, each [512, columns]
  for (long vector = 0; vector < 32; ++vector) {
    const long panel = vector / 3;
    const long width = panel < 10 ? 48 : 32;
    const long place = vector % 4;
    const long column = 16 * place;
    float* to = packed + 24576 * panel + 16 * (vector % 3) + 278528;
    const float* from = w->wk + 512 * (64 * (vector / 4) + column);
    for (long k = 0; k < 512; ++k) {
      for (long lane = 0; lane < 16; ++lane) {
        to[k * width + lane] = from[512 * lane + k];
      }
    }
  }
  // wv: panels of 48 columns, each [512, columns]
  for (long vector = 0; vector < 32; ++vector) {
    const long panel = vector / 3;
    const long width = panel < 10 ? 48 : 32;
    const long place = vector % 4;
    const long column = 16 * place;
    float* to = packed + 24576 * panel + 16 * (vector % 3) + 540672;
    const float* from = w->wv + 512 * (64 * (vector / 4) + column);
    for (long k = 0; k < 512; ++k) {
      for (long lane = 0; lane < 16; ++lane) {
        to[k * width + lane] = from[512 * lane + k];
      }
    }
  }
  // wo: panels of 48 columns, each [512, columns]
  for (long vector = 0; vector < 32; ++vector) {
    const long panel = vector / 3;
    const long width = panel < 10 ? 48 : 32;
    const long column = 16 * vector;
    float* to = packed + 24576 * panel + 16 * (vector % 3) + 802816;
    const float* from = w->wo + 512 * column;
    for (long k = 0; k < 512; ++k) {
      for (long lane = 0; lane < 16; ++lane) {
        to[k * width + lane] = from[512 * lane + k];
      }
    }
  }
}

void run(const textbook_mha_1_128_512_8_args* args, const void* packed, void* workspace,
    int workers, textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx) {
  Memory m;
  m.packed = static_cast<const float*>(packed);
  float* scratch = static_cast<float*>(workspace);
  m.x = args->x;
  m.out = args->out;
  m.angles = m.packed;
  m.wq_out = scratch;
  m.wk_out = scratch + 65536;
  m.wv_out = scratch + 131072;
  m.heads = scratch + 196608;
  m.local = scratch + 262144;

  const auto each = [&](long items, void (*one)(const Memory&, long, int),
                        void (*one_of_many)(void*, long, int)) {
    if (parallel_for && workers > 1) return parallel_for(ctx, items, one_of_many, &m);
    const unsigned before = set_float_state();
    for (long item = 0; item < items; ++item) one(m, item, 0);
    restore_float_state(before);
  };
  each(66, project_wq_wk_wv_item, on_worker<project_wq_wk_wv_item>);
  each(24, attention_item, on_worker<attention_item>);
  each(33, project_wo_item, on_worker<project_wo_item>);
}

}  // namespace textbook_mha_1_128_512_8_avx512

#ifdef __clang__
  #pragma clang attribute pop
  #pragma clang diagnostic pop
#else
  #pragma GCC pop_options
#endif
