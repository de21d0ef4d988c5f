// sdpa_1_3_77_40_true for avx512: 16 floats a vector, 32 registers. Made by
//   attune gen 'sdpa<1,3,77,40,true>' --isa portable,avx2,avx512
// One call takes 1.441 MFLOP on 0.1478 MB of inputs, outputs and weights.
//
// The spec is sdpa<1,3,77,40,true>:
//   // softmax(q k^T / sqrt(head_dim)) v on q, k, v [batch, heads, seq, head_dim].
//   template <long Batch, long Heads, long Seq, long HeadDim, bool Causal>
//   constexpr auto sdpa = [] {
//     auto q = input<Batch, Heads, Seq, HeadDim>("q");
//     auto k = input<Batch, Heads, Seq, HeadDim>("k");
//     auto v = input<Batch, Heads, Seq, HeadDim>("v");
//     auto s = matmul(q, transpose(k)) / sqrt_of<HeadDim>;
//     if constexpr (Causal) return matmul(softmax(mask(s, causal)), v);
//     else return matmul(softmax(s), v);
//   };
//
// What was decided:
// - attention: 3 times 77 rows against 77 columns, 80 at a time: their scores lie in a worker's
//   31.9 kB and nowhere else. 1 block of 32 rows, score tiles of 8 columns x 32 lanes: 16 of 32
//   registers accumulate, a step is 16 fma on 10 loads. 1 block of 45 rows, score tiles of 8
//   columns x 48 lanes: 24 of 32 registers accumulate, a step is 24 fma on 11 loads. Whole tiles of
//   removed pairs are skipped; tiles that keep all pairs test none. Value tiles of 9 rows x 40
//   columns: 27 of 32 registers accumulate, a step is 27 fma on 12 loads.
#include "sdpa_1_3_77_40_true.h"

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

namespace sdpa_1_3_77_40_true_avx512 {

namespace {

using vec = __m512;
typedef int ivec __attribute__((vector_size(64)));
using lanes_t = __mmask16;  // a bit per lane

// The plain forms of some intrinsics make GCC 12 warn of an uninitialized value in its own header.
enum : lanes_t { every = 0xffff };

static inline vec load(const float* p) { return _mm512_loadu_ps(p); }
static inline void store(float* p, vec a) { _mm512_storeu_ps(p, a); }

// The first n lanes, the others 0; nothing beyond them is read.
static inline vec load_part(const float* p, long n) {
  return _mm512_maskz_loadu_ps((__mmask16)((1u << n) - 1), p);
}

// The first n lanes; nothing beyond them is touched.
static inline void store_part(float* p, vec a, long n) {
  _mm512_mask_storeu_ps(p, (__mmask16)((1u << n) - 1), a);
}

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

static inline long smaller(long a, long b) { return b < a ? b : a; }
static inline long larger(long a, long b) { return b > a ? b : a; }

// Where everything lies. Below, c0 and c1 count the outer dimensions, row and col the inner ones.
struct Memory {
  const float* q;
  const float* k;
  const float* v;
  float* out;
  const float* packed;
  float* local;  // of worker 0; the others' follow
};

// A worker's memory: a block of rows, one a lane, against a block of columns.
struct attention_memory {
  float rows[1920];       // [40][48], scaled, in units of log 2
  float scores[3840];     // [80][48]; weights once they are known
  float peak[48];         // of each row, the score that the others are compared with
  float total[48];        // and the sum of its weights
  float carry[48];        // what its older sums are multiplied by, at the end by what
  float block_peak[48];   // the greatest score in the block of columns
  float block_total[48];  // and the sum of the block's weights
  float shift[48];        // -peak, where the rows' accumulators start
  float odd[48];          // NaN once a result is not finite
  float kept[48];         // 1 where the safe path found a pair that counts
  float holes[96];        // [80]: 1 for a column with one; then how many come before the first
  float fast[1920];       // [48][40], the results that it came to replace
};

// 5 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_5x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
  vec s10 = splat(0.0f);
  vec s20 = splat(0.0f);
  vec s30 = splat(0.0f);
  vec s40 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
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

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  store(block_peak, max(load(block_peak), max(high0_0, x4_0)));
}

// 5 columns x 32 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_5x32_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
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

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  store(block_peak, max(load(block_peak), max(high0_0, x4_0)));

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

  const vec high0_1 = max(max(x0_1, x1_1), max(x2_1, x3_1));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, x4_1)));
}

// 5 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_5x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long first = some0 ? 0 : (some1 ? 1 : 2);
  const long end = some1 ? 2 : (some0 ? 1 : 0);
  for (long v = 0; v < 2; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 5; ++i) {
        store(scores + 48 * i + 16 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_5x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_scores_5x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    const vec a7 = splat(b[k + 280]);
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(b[k + 280]);
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

// 8 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_8x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    const vec a7 = splat(b[k + 280]);
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    const vec a7 = splat(b[k + 280]);
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

// 8 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_8x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
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

// 5 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_5x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
  vec s10 = start0;
  vec s20 = start0;
  vec s30 = start0;
  vec s40 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
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

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0);
}

// 5 columns x 32 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_5x32_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
  vec s20 = start0, s21 = start1;
  vec s30 = start0, s31 = start1;
  vec s40 = start0, s41 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
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

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0);

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

  store(block_total + 16, load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1);
}

// 5 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_5x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long first = some0 ? 0 : (some1 ? 1 : 2);
  const long end = some1 ? 2 : (some0 ? 1 : 0);
  for (long v = 0; v < 2; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 5; ++i) {
        store(scores + 48 * i + 16 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_5x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_weights_5x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
}

// Weights of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, attention_memory& local) {
  const float* b = m.k + 3080 * c1 + 40 * col;
  for (long j = from; j < count - 7; j += 8) {
    attention_weights_in_part_8x32(b + 40 * j, local.scores + 48 * j, row, col + j, local);
  }
  const long rest = 8 * (count / 8);
  if (rest < count && from <= rest) {
    attention_weights_in_part_5x32(b + 40 * rest, local.scores + 48 * rest, row, col + rest, local);
  }
}

// Scores of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, attention_memory& local) {
  const float* b = m.k + 3080 * c1 + 40 * col;
  for (long j = from; j < count - 7; j += 8) {
    attention_scores_in_part_8x32(b + 40 * j, local.scores + 48 * j, row, col + j, local);
  }
  const long rest = 8 * (count / 8);
  if (rest < count && from <= rest) {
    attention_scores_in_part_5x32(b + 40 * rest, local.scores + 48 * rest, row, col + rest, local);
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
    long count, attention_memory& local) {
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
    attention_scores_of_32(m, c1, row, col, 0, count, local);
    attention_weigh_32(local, from, false);
    attention_weights_of_32(m, c1, row, col, from, count, local);
  }

  attention_lower_weights_32(local, count);
}

// 8 rows x 40 columns of the result, over `count` weights each, times the rows' factors.
[[gnu::noinline]] void attention_results_8x40(const float* weights, const float* v, long count,
    float* out, const float* factors, float* odd) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
  }

  // 0 * x is 0, or NaN if x is not finite.
  const vec zero = splat(0.0f);
  vec odd0 = load(odd);
  vec odd1 = zero;
  vec odd2 = zero;
  const vec f0 = splat(factors[0]);
  s00 = f0 * s00;
  store(out, s00);
  odd0 = fma(zero, s00, odd0);
  s01 = f0 * s01;
  store(out + 16, s01);
  odd1 = fma(zero, s01, odd1);
  s02 = f0 * s02;
  store_part(out + 32, s02, 8);
  odd2 = fma(zero, s02, odd2);
  const vec f1 = splat(factors[1]);
  s10 = f1 * s10;
  store(out + 40, s10);
  odd0 = fma(zero, s10, odd0);
  s11 = f1 * s11;
  store(out + 56, s11);
  odd1 = fma(zero, s11, odd1);
  s12 = f1 * s12;
  store_part(out + 72, s12, 8);
  odd2 = fma(zero, s12, odd2);
  const vec f2 = splat(factors[2]);
  s20 = f2 * s20;
  store(out + 80, s20);
  odd0 = fma(zero, s20, odd0);
  s21 = f2 * s21;
  store(out + 96, s21);
  odd1 = fma(zero, s21, odd1);
  s22 = f2 * s22;
  store_part(out + 112, s22, 8);
  odd2 = fma(zero, s22, odd2);
  const vec f3 = splat(factors[3]);
  s30 = f3 * s30;
  store(out + 120, s30);
  odd0 = fma(zero, s30, odd0);
  s31 = f3 * s31;
  store(out + 136, s31);
  odd1 = fma(zero, s31, odd1);
  s32 = f3 * s32;
  store_part(out + 152, s32, 8);
  odd2 = fma(zero, s32, odd2);
  const vec f4 = splat(factors[4]);
  s40 = f4 * s40;
  store(out + 160, s40);
  odd0 = fma(zero, s40, odd0);
  s41 = f4 * s41;
  store(out + 176, s41);
  odd1 = fma(zero, s41, odd1);
  s42 = f4 * s42;
  store_part(out + 192, s42, 8);
  odd2 = fma(zero, s42, odd2);
  const vec f5 = splat(factors[5]);
  s50 = f5 * s50;
  store(out + 200, s50);
  odd0 = fma(zero, s50, odd0);
  s51 = f5 * s51;
  store(out + 216, s51);
  odd1 = fma(zero, s51, odd1);
  s52 = f5 * s52;
  store_part(out + 232, s52, 8);
  odd2 = fma(zero, s52, odd2);
  const vec f6 = splat(factors[6]);
  s60 = f6 * s60;
  store(out + 240, s60);
  odd0 = fma(zero, s60, odd0);
  s61 = f6 * s61;
  store(out + 256, s61);
  odd1 = fma(zero, s61, odd1);
  s62 = f6 * s62;
  store_part(out + 272, s62, 8);
  odd2 = fma(zero, s62, odd2);
  const vec f7 = splat(factors[7]);
  s70 = f7 * s70;
  store(out + 280, s70);
  odd0 = fma(zero, s70, odd0);
  s71 = f7 * s71;
  store(out + 296, s71);
  odd1 = fma(zero, s71, odd1);
  s72 = f7 * s72;
  store_part(out + 312, s72, 8);
  odd2 = fma(zero, s72, odd2);
  store(odd, odd0 + odd1 + odd2);
}

// Weights of 32 rows and `count` columns, which are all that there are, become results.
[[gnu::noinline]] void attention_results_of_32(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));

  for (long i = 0; i < 32; i += 8) {
    const long high_last = row + i + 8;
    const long end = smaller(high_last - col, count);
    attention_results_8x40(local.scores + i, v, end, out + 40 * i, local.carry + i, local.odd);
  }
}

// 32 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_32(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  // The first columns give each row the score that the others are compared with.
  {
    const float* b = m.k + 3080 * c1 + 40 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    if (count < 8) {
      attention_scores_in_part_5x32(b, local.scores, row, col, local);
    } else {
      attention_scores_in_part_8x32(b, local.scores, row, col, local);
    }
    attention_weigh_32(local, smaller(8, count), true);
  }

  attention_weights_of_32(m, c1, row, col, smaller(8, count), count, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  if (any(negation(inside1))) {
    attention_mend_32(m, c1, row, col, smaller(8, count), count, local);
  }

  attention_results_of_32(m, c1, row, col, count, local);
}

// Scores of 32 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_32_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.15811388f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 16);
  const vec peak1 = max(old1, splat(0.15811388f) * load(local.block_peak + 16));
  store(local.peak + 16, peak1);
  store(local.carry + 16,
      select(both(less(old1, peak1), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.15811388f) * load(local.scores + 48 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.15811388f) * load(local.scores + 48 * j + 16);
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

  local.holes[80] = float(before_holes);

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

  float* out = m.out + 3080 * c1 + 40 * row;
  for (long i = 0; i < 32; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 32; n += 16) {
      store(out + 40 * i + n, carry * load(out + 40 * i + n));
    }
    store_part(out + 40 * i + 32, carry * load_part(out + 40 * i + 32, 8), 8);
  }
}

// 8 rows x 40 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_8x40_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < before_holes; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec b0 = load(v + 40 * k);
      const vec b1 = load(v + 40 * k + 16);
      const vec b2 = load_part(v + 40 * k + 32, 8);
      const vec a0 = splat(weights[48 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      s00 = fma_unless(hole0, a0, b0, s00);
      s01 = fma_unless(hole0, a0, b1, s01);
      s02 = fma_unless(hole0, a0, b2, s02);
      const vec a1 = splat(weights[48 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      s10 = fma_unless(hole1, a1, b0, s10);
      s11 = fma_unless(hole1, a1, b1, s11);
      s12 = fma_unless(hole1, a1, b2, s12);
      const vec a2 = splat(weights[48 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      s20 = fma_unless(hole2, a2, b0, s20);
      s21 = fma_unless(hole2, a2, b1, s21);
      s22 = fma_unless(hole2, a2, b2, s22);
      const vec a3 = splat(weights[48 * k + 3]);
      const lanes_t hole3 = is_minus_zero(a3);
      s30 = fma_unless(hole3, a3, b0, s30);
      s31 = fma_unless(hole3, a3, b1, s31);
      s32 = fma_unless(hole3, a3, b2, s32);
      const vec a4 = splat(weights[48 * k + 4]);
      const lanes_t hole4 = is_minus_zero(a4);
      s40 = fma_unless(hole4, a4, b0, s40);
      s41 = fma_unless(hole4, a4, b1, s41);
      s42 = fma_unless(hole4, a4, b2, s42);
      const vec a5 = splat(weights[48 * k + 5]);
      const lanes_t hole5 = is_minus_zero(a5);
      s50 = fma_unless(hole5, a5, b0, s50);
      s51 = fma_unless(hole5, a5, b1, s51);
      s52 = fma_unless(hole5, a5, b2, s52);
      const vec a6 = splat(weights[48 * k + 6]);
      const lanes_t hole6 = is_minus_zero(a6);
      s60 = fma_unless(hole6, a6, b0, s60);
      s61 = fma_unless(hole6, a6, b1, s61);
      s62 = fma_unless(hole6, a6, b2, s62);
      const vec a7 = splat(weights[48 * k + 7]);
      const lanes_t hole7 = is_minus_zero(a7);
      s70 = fma_unless(hole7, a7, b0, s70);
      s71 = fma_unless(hole7, a7, b1, s71);
      s72 = fma_unless(hole7, a7, b2, s72);
    } else {
      const vec b0 = load(v + 40 * k);
      const vec b1 = load(v + 40 * k + 16);
      const vec b2 = load_part(v + 40 * k + 32, 8);
      const vec a0 = splat(weights[48 * k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(weights[48 * k + 1]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(weights[48 * k + 2]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(weights[48 * k + 3]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(weights[48 * k + 4]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(weights[48 * k + 5]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(weights[48 * k + 6]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(weights[48 * k + 7]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load_part(out + 32, 8);
    s10 = s10 + load(out + 40);
    s11 = s11 + load(out + 56);
    s12 = s12 + load_part(out + 72, 8);
    s20 = s20 + load(out + 80);
    s21 = s21 + load(out + 96);
    s22 = s22 + load_part(out + 112, 8);
    s30 = s30 + load(out + 120);
    s31 = s31 + load(out + 136);
    s32 = s32 + load_part(out + 152, 8);
    s40 = s40 + load(out + 160);
    s41 = s41 + load(out + 176);
    s42 = s42 + load_part(out + 192, 8);
    s50 = s50 + load(out + 200);
    s51 = s51 + load(out + 216);
    s52 = s52 + load_part(out + 232, 8);
    s60 = s60 + load(out + 240);
    s61 = s61 + load(out + 256);
    s62 = s62 + load_part(out + 272, 8);
    s70 = s70 + load(out + 280);
    s71 = s71 + load(out + 296);
    s72 = s72 + load_part(out + 312, 8);
  }

  store(out, s00);
  store(out + 16, s01);
  store_part(out + 32, s02, 8);
  store(out + 40, s10);
  store(out + 56, s11);
  store_part(out + 72, s12, 8);
  store(out + 80, s20);
  store(out + 96, s21);
  store_part(out + 112, s22, 8);
  store(out + 120, s30);
  store(out + 136, s31);
  store_part(out + 152, s32, 8);
  store(out + 160, s40);
  store(out + 176, s41);
  store_part(out + 192, s42, 8);
  store(out + 200, s50);
  store(out + 216, s51);
  store_part(out + 232, s52, 8);
  store(out + 240, s60);
  store(out + 256, s61);
  store_part(out + 272, s62, 8);
  store(out + 280, s70);
  store(out + 296, s71);
  store_part(out + 312, s72, 8);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  const long before = long(local.holes[80]);

  for (long i = 0; i < 32; i += 8) {
    const long high_last = row + i + 8;
    const long end = smaller(high_last - col, count);
    attention_values_8x40_with_holes(local.scores + i, v, end, out + 40 * i, local.holes,
        smaller(larger(before, 0), end), fresh);
  }
}

// 8 rows x 40 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_8x40(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load_part(out + 32, 8);
    s10 = s10 + load(out + 40);
    s11 = s11 + load(out + 56);
    s12 = s12 + load_part(out + 72, 8);
    s20 = s20 + load(out + 80);
    s21 = s21 + load(out + 96);
    s22 = s22 + load_part(out + 112, 8);
    s30 = s30 + load(out + 120);
    s31 = s31 + load(out + 136);
    s32 = s32 + load_part(out + 152, 8);
    s40 = s40 + load(out + 160);
    s41 = s41 + load(out + 176);
    s42 = s42 + load_part(out + 192, 8);
    s50 = s50 + load(out + 200);
    s51 = s51 + load(out + 216);
    s52 = s52 + load_part(out + 232, 8);
    s60 = s60 + load(out + 240);
    s61 = s61 + load(out + 256);
    s62 = s62 + load_part(out + 272, 8);
    s70 = s70 + load(out + 280);
    s71 = s71 + load(out + 296);
    s72 = s72 + load_part(out + 312, 8);
  }

  store(out, s00);
  store(out + 16, s01);
  store_part(out + 32, s02, 8);
  store(out + 40, s10);
  store(out + 56, s11);
  store_part(out + 72, s12, 8);
  store(out + 80, s20);
  store(out + 96, s21);
  store_part(out + 112, s22, 8);
  store(out + 120, s30);
  store(out + 136, s31);
  store_part(out + 152, s32, 8);
  store(out + 160, s40);
  store(out + 176, s41);
  store_part(out + 192, s42, 8);
  store(out + 200, s50);
  store(out + 216, s51);
  store_part(out + 232, s52, 8);
  store(out + 240, s60);
  store(out + 256, s61);
  store_part(out + 272, s62, 8);
  store(out + 280, s70);
  store(out + 296, s71);
  store_part(out + 312, s72, 8);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));

  for (long i = 0; i < 32; i += 8) {
    const long high_last = row + i + 8;
    const long end = smaller(high_last - col, count);
    attention_values_8x40(local.scores + i, v, end, out + 40 * i, fresh);
  }
}

// 32 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_32_safely(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  attention_scores_of_32(m, c1, row, col, 0, count, local);
  attention_weigh_32_safely(local, count);
  if (!fresh) {
    attention_carry_over_32(m, c1, row, local);
  }

  if (long(local.holes[80]) < count) {
    attention_fold_32_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_32(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_32_rows_safely(const Memory& m, long c1, attention_memory& local) {
  const long row = 0;
  const float* a = m.q + 3080 * c1 + 40 * row;
  float* out = m.out + 3080 * c1 + 40 * row;

  for (long i = 0; i < 32; ++i) {
    for (long n = 0; n < 32; n += 16) {
      store(local.fast + 40 * i + n, load(out + 40 * i + n));
    }
    store_part(local.fast + 40 * i + 32, load_part(out + 40 * i + 32, 8), 8);
  }

  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 32; k += 16) {
      transpose_block(a + 40 * r + k, 40, local.rows + 48 * k + r, 48, splat(1.0f));
    }
    transpose_block(a + 40 * r + 24, 40, local.rows + r + 1152, 48, splat(1.0f));
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  bool fresh = true;
  for (long col = 0; col < 32; col += 80) {
    attention_visit_32_safely(m, c1, row, col, smaller(80, 32 - col), local, fresh);
    fresh = false;
  }

  store(local.carry,
      select(equal(load(local.kept), splat(1.0f)), splat(1.0f) / load(local.total), splat(0.0f)));
  store(local.carry + 16,
      select(equal(load(local.kept + 16), splat(1.0f)), splat(1.0f) / load(local.total + 16),
          splat(0.0f)));
  for (long i = 0; i < 32; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 32; n += 16) {
      const vec x = load(local.fast + 40 * i + n);
      odd = odd + (x - x);
    }
    const vec rest = load_part(local.fast + 40 * i + 32, 8);
    odd = odd + (rest - rest);
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 32; n += 16) {
        store(out + 40 * i + n, factor * load(out + 40 * i + n));
      }
      store_part(out + 40 * i + 32, factor * load_part(out + 40 * i + 32, 8), 8);
    } else {
      for (long n = 0; n < 32; n += 16) {
        store(out + 40 * i + n, load(local.fast + 40 * i + n));
      }
      store_part(out + 40 * i + 32, load_part(local.fast + 40 * i + 32, 8), 8);
    }
  }
}

// The one block of 32 rows.
[[gnu::noinline]] void attention_32_rows(const Memory& m, long c1, attention_memory& local) {
  const long row = 0;
  const float* a = m.q + 3080 * c1 + 40 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 32; k += 16) {
      transpose_block(a + 40 * r + k, 40, local.rows + 48 * k + r, 48, splat(0.22811012f));
    }
    transpose_block(a + 40 * r + 24, 40, local.rows + r + 1152, 48, splat(0.22811012f));
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));
  store(local.odd, splat(0.0f));

  attention_visit_32(m, c1, row, 0, 32, local);

  if (has_nan(load(local.odd))) {
    attention_32_rows_safely(m, c1, local);
  }
}

// 5 columns x 48 rows of scores.
[[gnu::noinline]] void attention_scores_5x48(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
  }

  store(scores, s00);
  store(scores + 48, s10);
  store(scores + 96, s20);
  store(scores + 144, s30);
  store(scores + 192, s40);

  const vec high0_0 = max(max(s00, s10), max(s20, s30));
  store(block_peak, max(load(block_peak), max(high0_0, s40)));

  store(scores + 16, s01);
  store(scores + 64, s11);
  store(scores + 112, s21);
  store(scores + 160, s31);
  store(scores + 208, s41);

  const vec high0_1 = max(max(s01, s11), max(s21, s31));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, s41)));

  store(scores + 32, s02);
  store(scores + 80, s12);
  store(scores + 128, s22);
  store(scores + 176, s32);
  store(scores + 224, s42);

  const vec high0_2 = max(max(s02, s12), max(s22, s32));
  store(block_peak + 32, max(load(block_peak + 32), max(high0_2, s42)));
}

// 5 columns x 48 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_5x48_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
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

  const vec high0_0 = max(max(x0_0, x1_0), max(x2_0, x3_0));
  store(block_peak, max(load(block_peak), max(high0_0, x4_0)));

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

  const vec high0_1 = max(max(x0_1, x1_1), max(x2_1, x3_1));
  store(block_peak + 16, max(load(block_peak + 16), max(high0_1, x4_1)));

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

  const vec high0_2 = max(max(x0_2, x1_2), max(x2_2, x3_2));
  store(block_peak + 32, max(load(block_peak + 32), max(high0_2, x4_2)));
}

// 5 columns x 45 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_5x45(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long high2 = smaller(16 * (row / 16) + 48, 77);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 5; ++i) {
        store(scores + 48 * i + 16 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_5x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_scores_5x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
  }
  if (end - first == 3) {
    attention_scores_5x48_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.block_peak + 16 * first, row + 16 * first, col);
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
  for (long two = 0; two < 40; two += 2) {
#pragma GCC unroll 2
    for (long k = two; k < two + 2; ++k) {
      const vec b0 = load(rows + 48 * k);
      const vec b1 = load(rows + 48 * k + 16);
      const vec b2 = load(rows + 48 * k + 32);
      const vec a0 = splat(b[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(b[k + 40]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(b[k + 80]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(b[k + 120]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(b[k + 160]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(b[k + 200]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(b[k + 240]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(b[k + 280]);
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(b[k + 280]);
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

// 8 columns x 45 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_8x45(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long high2 = smaller(16 * (row / 16) + 48, 77);
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
[[gnu::noinline]] void attention_weights_8x48(const float* rows, const float* b, float* scores,
    const float* shift, float* block_total) {
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
  for (long two = 0; two < 40; two += 2) {
#pragma GCC unroll 2
    for (long k = two; k < two + 2; ++k) {
      const vec b0 = load(rows + 48 * k);
      const vec b1 = load(rows + 48 * k + 16);
      const vec b2 = load(rows + 48 * k + 32);
      const vec a0 = splat(b[k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(b[k + 40]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(b[k + 80]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(b[k + 120]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(b[k + 160]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(b[k + 200]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(b[k + 240]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(b[k + 280]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
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
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(b[k + 200]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(b[k + 240]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(b[k + 280]);
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

// 8 columns x 45 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_8x45(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long high2 = smaller(16 * (row / 16) + 48, 77);
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

// 5 columns x 48 rows of weights.
[[gnu::noinline]] void attention_weights_5x48(const float* rows, const float* b, float* scores,
    const float* shift, float* block_total) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  const vec start2 = load(shift + 32);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  vec s40 = start0, s41 = start1, s42 = start2;
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
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

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0);

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

  store(block_total + 16, load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1);

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

  store(block_total + 32, load(block_total + 32) + w0_2 + w1_2 + w2_2 + w3_2 + w4_2);
}

// 5 columns x 48 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_5x48_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 16);
  const vec start2 = load(shift + 32);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  vec s30 = start0, s31 = start1, s32 = start2;
  vec s40 = start0, s41 = start1, s42 = start2;
#pragma GCC unroll 4
  for (long k = 0; k < 40; ++k) {
    const vec b0 = load(rows + 48 * k);
    const vec b1 = load(rows + 48 * k + 16);
    const vec b2 = load(rows + 48 * k + 32);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(b[k + 40]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(b[k + 80]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(b[k + 120]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(b[k + 160]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
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

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0 + w3_0 + w4_0);

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

  store(block_total + 16, load(block_total + 16) + w0_1 + w1_1 + w2_1 + w3_1 + w4_1);

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

  store(block_total + 32, load(block_total + 32) + w0_2 + w1_2 + w2_2 + w3_2 + w4_2);
}

// 5 columns x 45 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_5x45(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = smaller(16 * (row / 16) + 16, 77);
  const bool some0 = col < high0;
  const long high1 = smaller(16 * (row / 16) + 32, 77);
  const bool some1 = col < high1;
  const long high2 = smaller(16 * (row / 16) + 48, 77);
  const bool some2 = col < high2;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : 3));
  const long end = some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0));
  for (long v = 0; v < 3; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 5; ++i) {
        store(scores + 48 * i + 16 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_5x16_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 2) {
    attention_weights_5x32_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
  if (end - first == 3) {
    attention_weights_5x48_in_part(local.rows + 16 * first, b, scores + 16 * first,
        local.shift + 16 * first, local.block_total + 16 * first, row + 16 * first, col);
  }
}

// Weights of 45 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_45(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.k + 3080 * c1 + 40 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_weights_8x48(local.rows, b + 40 * j, local.scores + 48 * j, local.shift,
          local.block_total);
    } else {
      attention_weights_in_part_8x45(b + 40 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
  const long rest = 8 * (count / 8);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_weights_5x48(local.rows, b + 40 * rest, local.scores + 48 * rest, local.shift,
          local.block_total);
    } else {
      attention_weights_in_part_5x45(b + 40 * rest, local.scores + 48 * rest, row, col + rest,
          local);
    }
  }
}

// Scores of 45 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_45(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.k + 3080 * c1 + 40 * col;
  for (long j = from; j < count - 7; j += 8) {
    if (col + j < whole_end) {
      attention_scores_8x48(local.rows, b + 40 * j, local.scores + 48 * j, local.block_peak);
    } else {
      attention_scores_in_part_8x45(b + 40 * j, local.scores + 48 * j, row, col + j, local);
    }
  }
  const long rest = 8 * (count / 8);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_scores_5x48(local.rows, b + 40 * rest, local.scores + 48 * rest, local.block_peak);
    } else {
      attention_scores_in_part_5x45(b + 40 * rest, local.scores + 48 * rest, row, col + rest,
          local);
    }
  }
}

// Of 45 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_45(attention_memory& local, long count) {
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

// Weights of 45 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_45(const Memory& m, long c1, long row, long col, long from,
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
    attention_scores_of_45(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_48(local, from, false);
    attention_weights_of_45(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_45(local, count);
}

// 9 rows x 40 columns of the result, over `count` weights each, times the rows' factors.
[[gnu::noinline]] void attention_results_9x40(const float* weights, const float* v, long count,
    float* out, const float* factors, float* odd) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
    const vec a8 = splat(weights[48 * k + 8]);
    s80 = fma(a8, b0, s80);
    s81 = fma(a8, b1, s81);
    s82 = fma(a8, b2, s82);
  }

  // 0 * x is 0, or NaN if x is not finite.
  const vec zero = splat(0.0f);
  vec odd0 = load(odd);
  vec odd1 = zero;
  vec odd2 = zero;
  const vec f0 = splat(factors[0]);
  s00 = f0 * s00;
  store(out, s00);
  odd0 = fma(zero, s00, odd0);
  s01 = f0 * s01;
  store(out + 16, s01);
  odd1 = fma(zero, s01, odd1);
  s02 = f0 * s02;
  store_part(out + 32, s02, 8);
  odd2 = fma(zero, s02, odd2);
  const vec f1 = splat(factors[1]);
  s10 = f1 * s10;
  store(out + 40, s10);
  odd0 = fma(zero, s10, odd0);
  s11 = f1 * s11;
  store(out + 56, s11);
  odd1 = fma(zero, s11, odd1);
  s12 = f1 * s12;
  store_part(out + 72, s12, 8);
  odd2 = fma(zero, s12, odd2);
  const vec f2 = splat(factors[2]);
  s20 = f2 * s20;
  store(out + 80, s20);
  odd0 = fma(zero, s20, odd0);
  s21 = f2 * s21;
  store(out + 96, s21);
  odd1 = fma(zero, s21, odd1);
  s22 = f2 * s22;
  store_part(out + 112, s22, 8);
  odd2 = fma(zero, s22, odd2);
  const vec f3 = splat(factors[3]);
  s30 = f3 * s30;
  store(out + 120, s30);
  odd0 = fma(zero, s30, odd0);
  s31 = f3 * s31;
  store(out + 136, s31);
  odd1 = fma(zero, s31, odd1);
  s32 = f3 * s32;
  store_part(out + 152, s32, 8);
  odd2 = fma(zero, s32, odd2);
  const vec f4 = splat(factors[4]);
  s40 = f4 * s40;
  store(out + 160, s40);
  odd0 = fma(zero, s40, odd0);
  s41 = f4 * s41;
  store(out + 176, s41);
  odd1 = fma(zero, s41, odd1);
  s42 = f4 * s42;
  store_part(out + 192, s42, 8);
  odd2 = fma(zero, s42, odd2);
  const vec f5 = splat(factors[5]);
  s50 = f5 * s50;
  store(out + 200, s50);
  odd0 = fma(zero, s50, odd0);
  s51 = f5 * s51;
  store(out + 216, s51);
  odd1 = fma(zero, s51, odd1);
  s52 = f5 * s52;
  store_part(out + 232, s52, 8);
  odd2 = fma(zero, s52, odd2);
  const vec f6 = splat(factors[6]);
  s60 = f6 * s60;
  store(out + 240, s60);
  odd0 = fma(zero, s60, odd0);
  s61 = f6 * s61;
  store(out + 256, s61);
  odd1 = fma(zero, s61, odd1);
  s62 = f6 * s62;
  store_part(out + 272, s62, 8);
  odd2 = fma(zero, s62, odd2);
  const vec f7 = splat(factors[7]);
  s70 = f7 * s70;
  store(out + 280, s70);
  odd0 = fma(zero, s70, odd0);
  s71 = f7 * s71;
  store(out + 296, s71);
  odd1 = fma(zero, s71, odd1);
  s72 = f7 * s72;
  store_part(out + 312, s72, 8);
  odd2 = fma(zero, s72, odd2);
  const vec f8 = splat(factors[8]);
  s80 = f8 * s80;
  store(out + 320, s80);
  odd0 = fma(zero, s80, odd0);
  s81 = f8 * s81;
  store(out + 336, s81);
  odd1 = fma(zero, s81, odd1);
  s82 = f8 * s82;
  store_part(out + 352, s82, 8);
  odd2 = fma(zero, s82, odd2);
  store(odd, odd0 + odd1 + odd2);
}

// Weights of 45 rows and `count` columns, which are all that there are, become results.
[[gnu::noinline]] void attention_results_of_45(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));
  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));
  store(local.carry + 32, splat(1.0f) / load(local.total + 32));

  for (long i = 0; i < 45; i += 9) {
    const long high_last = row + i + 9;
    const long end = smaller(high_last - col, count);
    attention_results_9x40(local.scores + i, v, end, out + 40 * i, local.carry + i, local.odd);
  }
}

// 45 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_45(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  store(local.block_total + 32, splat(0.0f));
  // The first columns give each row the score that the others are compared with.
  {
    const float* b = m.k + 3080 * c1 + 40 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    store(local.block_peak + 32, splat(-__FLT_MAX__));
    if (count < 8) {
      if (col < whole_end) {
        attention_scores_5x48(local.rows, b, local.scores, local.block_peak);
      } else {
        attention_scores_in_part_5x45(b, local.scores, row, col, local);
      }
    } else if (col < whole_end) {
      attention_scores_8x48(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_8x45(b, local.scores, row, col, local);
    }
    attention_weigh_48(local, smaller(8, count), true);
  }

  attention_weights_of_45(m, c1, row, col, smaller(8, count), count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  const lanes_t inside2 = both(inside1, not_less(splat(0x1p+40f), load(local.block_total + 32)));
  if (any(negation(inside2))) {
    attention_mend_45(m, c1, row, col, smaller(8, count), count, whole_end, local);
  }

  attention_results_of_45(m, c1, row, col, count, local);
}

// Scores of 48 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_48_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.15811388f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 16);
  const vec peak1 = max(old1, splat(0.15811388f) * load(local.block_peak + 16));
  store(local.peak + 16, peak1);
  store(local.carry + 16,
      select(both(less(old1, peak1), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  const vec old2 = load(local.peak + 32);
  const vec peak2 = max(old2, splat(0.15811388f) * load(local.block_peak + 32));
  store(local.peak + 32, peak2);
  store(local.carry + 32,
      select(both(less(old2, peak2), equal(load(local.kept + 32), splat(1.0f))),
          exp_nonpositive(old2 - peak2), splat(1.0f)));
  vec total2 = splat(0.0f);
  lanes_t all2 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.15811388f) * load(local.scores + 48 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 48 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.15811388f) * load(local.scores + 48 * j + 16);
    const lanes_t hole1 = equal(score1, removed);
    const vec w1 = select(hole1, splat(-0.0f), exp_nonpositive(score1 - peak1) + splat(0.0f));
    store(local.scores + 48 * j + 16, w1);
    total1 = total1 + w1;
    all1 = both(all1, hole1);
    const vec score2 = splat(0.15811388f) * load(local.scores + 48 * j + 32);
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

  local.holes[80] = float(before_holes);

  store(local.block_total, total0);
  store(local.kept, select(all0, load(local.kept), splat(1.0f)));

  store(local.block_total + 16, total1);
  store(local.kept + 16, select(all1, load(local.kept + 16), splat(1.0f)));

  store(local.block_total + 32, total2);
  store(local.kept + 32, select(all2, load(local.kept + 32), splat(1.0f)));
}

// What 45 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_45(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));
  store(local.total + 32, load(local.carry + 32) * load(local.total + 32));

  float* out = m.out + 3080 * c1 + 40 * row;
  for (long i = 0; i < 45; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 32; n += 16) {
      store(out + 40 * i + n, carry * load(out + 40 * i + n));
    }
    store_part(out + 40 * i + 32, carry * load_part(out + 40 * i + 32, 8), 8);
  }
}

// 9 rows x 40 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_9x40_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < before_holes; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
    const vec a8 = splat(weights[48 * k + 8]);
    s80 = fma(a8, b0, s80);
    s81 = fma(a8, b1, s81);
    s82 = fma(a8, b2, s82);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec b0 = load(v + 40 * k);
      const vec b1 = load(v + 40 * k + 16);
      const vec b2 = load_part(v + 40 * k + 32, 8);
      const vec a0 = splat(weights[48 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      s00 = fma_unless(hole0, a0, b0, s00);
      s01 = fma_unless(hole0, a0, b1, s01);
      s02 = fma_unless(hole0, a0, b2, s02);
      const vec a1 = splat(weights[48 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      s10 = fma_unless(hole1, a1, b0, s10);
      s11 = fma_unless(hole1, a1, b1, s11);
      s12 = fma_unless(hole1, a1, b2, s12);
      const vec a2 = splat(weights[48 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      s20 = fma_unless(hole2, a2, b0, s20);
      s21 = fma_unless(hole2, a2, b1, s21);
      s22 = fma_unless(hole2, a2, b2, s22);
      const vec a3 = splat(weights[48 * k + 3]);
      const lanes_t hole3 = is_minus_zero(a3);
      s30 = fma_unless(hole3, a3, b0, s30);
      s31 = fma_unless(hole3, a3, b1, s31);
      s32 = fma_unless(hole3, a3, b2, s32);
      const vec a4 = splat(weights[48 * k + 4]);
      const lanes_t hole4 = is_minus_zero(a4);
      s40 = fma_unless(hole4, a4, b0, s40);
      s41 = fma_unless(hole4, a4, b1, s41);
      s42 = fma_unless(hole4, a4, b2, s42);
      const vec a5 = splat(weights[48 * k + 5]);
      const lanes_t hole5 = is_minus_zero(a5);
      s50 = fma_unless(hole5, a5, b0, s50);
      s51 = fma_unless(hole5, a5, b1, s51);
      s52 = fma_unless(hole5, a5, b2, s52);
      const vec a6 = splat(weights[48 * k + 6]);
      const lanes_t hole6 = is_minus_zero(a6);
      s60 = fma_unless(hole6, a6, b0, s60);
      s61 = fma_unless(hole6, a6, b1, s61);
      s62 = fma_unless(hole6, a6, b2, s62);
      const vec a7 = splat(weights[48 * k + 7]);
      const lanes_t hole7 = is_minus_zero(a7);
      s70 = fma_unless(hole7, a7, b0, s70);
      s71 = fma_unless(hole7, a7, b1, s71);
      s72 = fma_unless(hole7, a7, b2, s72);
      const vec a8 = splat(weights[48 * k + 8]);
      const lanes_t hole8 = is_minus_zero(a8);
      s80 = fma_unless(hole8, a8, b0, s80);
      s81 = fma_unless(hole8, a8, b1, s81);
      s82 = fma_unless(hole8, a8, b2, s82);
    } else {
      const vec b0 = load(v + 40 * k);
      const vec b1 = load(v + 40 * k + 16);
      const vec b2 = load_part(v + 40 * k + 32, 8);
      const vec a0 = splat(weights[48 * k]);
      s00 = fma(a0, b0, s00);
      s01 = fma(a0, b1, s01);
      s02 = fma(a0, b2, s02);
      const vec a1 = splat(weights[48 * k + 1]);
      s10 = fma(a1, b0, s10);
      s11 = fma(a1, b1, s11);
      s12 = fma(a1, b2, s12);
      const vec a2 = splat(weights[48 * k + 2]);
      s20 = fma(a2, b0, s20);
      s21 = fma(a2, b1, s21);
      s22 = fma(a2, b2, s22);
      const vec a3 = splat(weights[48 * k + 3]);
      s30 = fma(a3, b0, s30);
      s31 = fma(a3, b1, s31);
      s32 = fma(a3, b2, s32);
      const vec a4 = splat(weights[48 * k + 4]);
      s40 = fma(a4, b0, s40);
      s41 = fma(a4, b1, s41);
      s42 = fma(a4, b2, s42);
      const vec a5 = splat(weights[48 * k + 5]);
      s50 = fma(a5, b0, s50);
      s51 = fma(a5, b1, s51);
      s52 = fma(a5, b2, s52);
      const vec a6 = splat(weights[48 * k + 6]);
      s60 = fma(a6, b0, s60);
      s61 = fma(a6, b1, s61);
      s62 = fma(a6, b2, s62);
      const vec a7 = splat(weights[48 * k + 7]);
      s70 = fma(a7, b0, s70);
      s71 = fma(a7, b1, s71);
      s72 = fma(a7, b2, s72);
      const vec a8 = splat(weights[48 * k + 8]);
      s80 = fma(a8, b0, s80);
      s81 = fma(a8, b1, s81);
      s82 = fma(a8, b2, s82);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load_part(out + 32, 8);
    s10 = s10 + load(out + 40);
    s11 = s11 + load(out + 56);
    s12 = s12 + load_part(out + 72, 8);
    s20 = s20 + load(out + 80);
    s21 = s21 + load(out + 96);
    s22 = s22 + load_part(out + 112, 8);
    s30 = s30 + load(out + 120);
    s31 = s31 + load(out + 136);
    s32 = s32 + load_part(out + 152, 8);
    s40 = s40 + load(out + 160);
    s41 = s41 + load(out + 176);
    s42 = s42 + load_part(out + 192, 8);
    s50 = s50 + load(out + 200);
    s51 = s51 + load(out + 216);
    s52 = s52 + load_part(out + 232, 8);
    s60 = s60 + load(out + 240);
    s61 = s61 + load(out + 256);
    s62 = s62 + load_part(out + 272, 8);
    s70 = s70 + load(out + 280);
    s71 = s71 + load(out + 296);
    s72 = s72 + load_part(out + 312, 8);
    s80 = s80 + load(out + 320);
    s81 = s81 + load(out + 336);
    s82 = s82 + load_part(out + 352, 8);
  }

  store(out, s00);
  store(out + 16, s01);
  store_part(out + 32, s02, 8);
  store(out + 40, s10);
  store(out + 56, s11);
  store_part(out + 72, s12, 8);
  store(out + 80, s20);
  store(out + 96, s21);
  store_part(out + 112, s22, 8);
  store(out + 120, s30);
  store(out + 136, s31);
  store_part(out + 152, s32, 8);
  store(out + 160, s40);
  store(out + 176, s41);
  store_part(out + 192, s42, 8);
  store(out + 200, s50);
  store(out + 216, s51);
  store_part(out + 232, s52, 8);
  store(out + 240, s60);
  store(out + 256, s61);
  store_part(out + 272, s62, 8);
  store(out + 280, s70);
  store(out + 296, s71);
  store_part(out + 312, s72, 8);
  store(out + 320, s80);
  store(out + 336, s81);
  store_part(out + 352, s82, 8);
}

// Weights of 45 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_45_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));
  const long before = long(local.holes[80]);

  for (long i = 0; i < 45; i += 9) {
    const long high_last = row + i + 9;
    const long end = smaller(high_last - col, count);
    attention_values_9x40_with_holes(local.scores + i, v, end, out + 40 * i, local.holes,
        smaller(larger(before, 0), end), fresh);
  }
}

// 9 rows x 40 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_9x40(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  vec s30 = splat(0.0f), s31 = splat(0.0f), s32 = splat(0.0f);
  vec s40 = splat(0.0f), s41 = splat(0.0f), s42 = splat(0.0f);
  vec s50 = splat(0.0f), s51 = splat(0.0f), s52 = splat(0.0f);
  vec s60 = splat(0.0f), s61 = splat(0.0f), s62 = splat(0.0f);
  vec s70 = splat(0.0f), s71 = splat(0.0f), s72 = splat(0.0f);
  vec s80 = splat(0.0f), s81 = splat(0.0f), s82 = splat(0.0f);

#pragma GCC unroll 2
  for (long k = 0; k < count; ++k) {
    const vec b0 = load(v + 40 * k);
    const vec b1 = load(v + 40 * k + 16);
    const vec b2 = load_part(v + 40 * k + 32, 8);
    const vec a0 = splat(weights[48 * k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    s02 = fma(a0, b2, s02);
    const vec a1 = splat(weights[48 * k + 1]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    s12 = fma(a1, b2, s12);
    const vec a2 = splat(weights[48 * k + 2]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
    s22 = fma(a2, b2, s22);
    const vec a3 = splat(weights[48 * k + 3]);
    s30 = fma(a3, b0, s30);
    s31 = fma(a3, b1, s31);
    s32 = fma(a3, b2, s32);
    const vec a4 = splat(weights[48 * k + 4]);
    s40 = fma(a4, b0, s40);
    s41 = fma(a4, b1, s41);
    s42 = fma(a4, b2, s42);
    const vec a5 = splat(weights[48 * k + 5]);
    s50 = fma(a5, b0, s50);
    s51 = fma(a5, b1, s51);
    s52 = fma(a5, b2, s52);
    const vec a6 = splat(weights[48 * k + 6]);
    s60 = fma(a6, b0, s60);
    s61 = fma(a6, b1, s61);
    s62 = fma(a6, b2, s62);
    const vec a7 = splat(weights[48 * k + 7]);
    s70 = fma(a7, b0, s70);
    s71 = fma(a7, b1, s71);
    s72 = fma(a7, b2, s72);
    const vec a8 = splat(weights[48 * k + 8]);
    s80 = fma(a8, b0, s80);
    s81 = fma(a8, b1, s81);
    s82 = fma(a8, b2, s82);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 16);
    s02 = s02 + load_part(out + 32, 8);
    s10 = s10 + load(out + 40);
    s11 = s11 + load(out + 56);
    s12 = s12 + load_part(out + 72, 8);
    s20 = s20 + load(out + 80);
    s21 = s21 + load(out + 96);
    s22 = s22 + load_part(out + 112, 8);
    s30 = s30 + load(out + 120);
    s31 = s31 + load(out + 136);
    s32 = s32 + load_part(out + 152, 8);
    s40 = s40 + load(out + 160);
    s41 = s41 + load(out + 176);
    s42 = s42 + load_part(out + 192, 8);
    s50 = s50 + load(out + 200);
    s51 = s51 + load(out + 216);
    s52 = s52 + load_part(out + 232, 8);
    s60 = s60 + load(out + 240);
    s61 = s61 + load(out + 256);
    s62 = s62 + load_part(out + 272, 8);
    s70 = s70 + load(out + 280);
    s71 = s71 + load(out + 296);
    s72 = s72 + load_part(out + 312, 8);
    s80 = s80 + load(out + 320);
    s81 = s81 + load(out + 336);
    s82 = s82 + load_part(out + 352, 8);
  }

  store(out, s00);
  store(out + 16, s01);
  store_part(out + 32, s02, 8);
  store(out + 40, s10);
  store(out + 56, s11);
  store_part(out + 72, s12, 8);
  store(out + 80, s20);
  store(out + 96, s21);
  store_part(out + 112, s22, 8);
  store(out + 120, s30);
  store(out + 136, s31);
  store_part(out + 152, s32, 8);
  store(out + 160, s40);
  store(out + 176, s41);
  store_part(out + 192, s42, 8);
  store(out + 200, s50);
  store(out + 216, s51);
  store_part(out + 232, s52, 8);
  store(out + 240, s60);
  store(out + 256, s61);
  store_part(out + 272, s62, 8);
  store(out + 280, s70);
  store(out + 296, s71);
  store_part(out + 312, s72, 8);
  store(out + 320, s80);
  store(out + 336, s81);
  store_part(out + 352, s82, 8);
}

// Weights of 45 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_45(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.v + 3080 * c1 + 40 * col;
  float* out = m.out + 3080 * c1 + 40 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 32, load(local.total + 32) + load(local.block_total + 32));

  for (long i = 0; i < 45; i += 9) {
    const long high_last = row + i + 9;
    const long end = smaller(high_last - col, count);
    attention_values_9x40(local.scores + i, v, end, out + 40 * i, fresh);
  }
}

// 45 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_45_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  store(local.block_peak + 32, splat(-__builtin_inff()));
  attention_scores_of_45(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_48_safely(local, count);
  if (!fresh) {
    attention_carry_over_45(m, c1, row, local);
  }

  if (long(local.holes[80]) < count) {
    attention_fold_45_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_45(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_45_rows_safely(const Memory& m, long c1, attention_memory& local) {
  const long row = 32;
  const float* a = m.q + 3080 * c1 + 40 * row;
  float* out = m.out + 3080 * c1 + 40 * row;

  for (long i = 0; i < 45; ++i) {
    for (long n = 0; n < 32; n += 16) {
      store(local.fast + 40 * i + n, load(out + 40 * i + n));
    }
    store_part(local.fast + 40 * i + 32, load_part(out + 40 * i + 32, 8), 8);
  }

  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 32; k += 16) {
      transpose_block(a + 40 * r + k, 40, local.rows + 48 * k + r, 48, splat(1.0f));
    }
    transpose_block(a + 40 * r + 24, 40, local.rows + r + 1152, 48, splat(1.0f));
  }
  for (long k = 0; k < 32; k += 16) {
    transpose_block(a + k + 1160, 40, local.rows + 48 * k + 29, 48, splat(1.0f));
  }
  transpose_block(a + 1184, 40, local.rows + 1181, 48, splat(1.0f));
  const lanes_t empty = iless_equal(isplat(13), iota());
  for (long k = 0; k < 40; ++k) {
    float* last = local.rows + 48 * k + 32;
    store(last, select(empty, splat(last[12]), load(last)));
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
  for (long col = 0; col < 77; col += 80) {
    attention_visit_45_safely(m, c1, row, col, smaller(80, 77 - col), 32, local, fresh);
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
  for (long i = 0; i < 45; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 32; n += 16) {
      const vec x = load(local.fast + 40 * i + n);
      odd = odd + (x - x);
    }
    const vec rest = load_part(local.fast + 40 * i + 32, 8);
    odd = odd + (rest - rest);
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 32; n += 16) {
        store(out + 40 * i + n, factor * load(out + 40 * i + n));
      }
      store_part(out + 40 * i + 32, factor * load_part(out + 40 * i + 32, 8), 8);
    } else {
      for (long n = 0; n < 32; n += 16) {
        store(out + 40 * i + n, load(local.fast + 40 * i + n));
      }
      store_part(out + 40 * i + 32, load_part(local.fast + 40 * i + 32, 8), 8);
    }
  }
}

// The one block of 45 rows.
[[gnu::noinline]] void attention_45_rows(const Memory& m, long c1, attention_memory& local) {
  const long row = 32;
  const float* a = m.q + 3080 * c1 + 40 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 32; r += 16) {
    for (long k = 0; k < 32; k += 16) {
      transpose_block(a + 40 * r + k, 40, local.rows + 48 * k + r, 48, splat(0.22811012f));
    }
    transpose_block(a + 40 * r + 24, 40, local.rows + r + 1152, 48, splat(0.22811012f));
  }
  for (long k = 0; k < 32; k += 16) {
    transpose_block(a + k + 1160, 40, local.rows + 48 * k + 29, 48, splat(0.22811012f));
  }
  transpose_block(a + 1184, 40, local.rows + 1181, 48, splat(0.22811012f));
  const lanes_t empty = iless_equal(isplat(13), iota());
  for (long k = 0; k < 40; ++k) {
    float* last = local.rows + 48 * k + 32;
    store(last, select(empty, splat(last[12]), load(last)));
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));
  store(local.peak + 32, splat(-__FLT_MAX__));
  store(local.total + 32, splat(0.0f));
  store(local.odd, splat(0.0f));

  attention_visit_45(m, c1, row, 0, 77, 32, local);

  if (has_nan(load(local.odd))) {
    attention_45_rows_safely(m, c1, local);
  }
}

// An item: one block of rows.
[[gnu::noinline]] void attention(const Memory& m, long item, attention_memory& local) {
  const long block = item % 2;
  const long c1 = item / 2;
  if (block < 1) {
    attention_32_rows(m, c1, local);
  } else {
    attention_45_rows(m, c1, local);
  }
}

// An item on a thread of its own, whose floating-point state comes back as it was.
template <void (*Item)(const Memory&, long, int)>
void on_worker(void* m, long item, int worker) {
  const unsigned before = set_float_state();
  Item(*static_cast<Memory*>(m), item, worker);
  restore_float_state(before);
}

void attention_item(const Memory& m, long item, int worker) {
  attention(m, item, *reinterpret_cast<attention_memory*>(m.local + 8160L * worker));
}

}  // namespace

size_t workspace_bytes(int workers) { return 32640u * (size_t)workers; }

void run(const sdpa_1_3_77_40_true_args* args, const void* packed, void* workspace, int workers,
    sdpa_1_3_77_40_true_parallel_for parallel_for, void* ctx) {
  Memory m;
  m.packed = static_cast<const float*>(packed);
  float* scratch = static_cast<float*>(workspace);
  m.q = args->q;
  m.k = args->k;
  m.v = args->v;
  m.out = args->out;
  m.local = scratch;

  const auto each = [&](long items, void (*one)(const Memory&, long, int),
                        void (*one_of_many)(void*, long, int)) {
    if (parallel_for && workers > 1) return parallel_for(ctx, items, one_of_many, &m);
    const unsigned before = set_float_state();
    for (long item = 0; item < items; ++item) one(m, item, 0);
    restore_float_state(before);
  };
  each(6, attention_item, on_worker<attention_item>);
}

}  // namespace sdpa_1_3_77_40_true_avx512

#ifdef __clang__
  #pragma clang attribute pop
  #pragma clang diagnostic pop
#else
  #pragma GCC pop_options
#endif
