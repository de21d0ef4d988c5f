// sdpa_1_8_512_128_true for avx2: 8 floats a vector, 16 registers. Made by
//   attune gen 'sdpa<1,8,512,128,true>' --isa portable,avx2,avx512
// One call takes 537.9 MFLOP on 8.389 MB of inputs, outputs and weights.
//
// The spec is sdpa<1,8,512,128,true>:
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
// - attention: 8 times 512 rows against 512 columns, 48 at a time: their scores lie in a worker's
//   39.1 kB and nowhere else. 16 blocks of 32 rows, score tiles of 3 columns x 32 lanes: 12 of 16
//   registers accumulate, a step is 12 fma on 7 loads. Score tiles ask memory for the next columns
//   and their values, the next rows and the results' place. Whole tiles of removed pairs are
//   skipped; tiles that keep all pairs test none. Value tiles of 3 rows x 32 columns: 12 of 16
//   registers accumulate, a step is 12 fma on 7 loads.
#include "sdpa_1_8_512_128_true.h"

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

namespace sdpa_1_8_512_128_true_avx2 {

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

static inline void prefetch(const float* p) { __builtin_prefetch(p); }
static inline void prefetch_l2(const float* p) { __builtin_prefetch(p, 0, 2); }

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
  float rows[4096];       // [128][32], scaled, in units of log 2
  float scores[1536];     // [48][32]; weights once they are known
  float peak[32];         // of each row, the score that the others are compared with
  float total[32];        // and the sum of its weights
  float carry[32];        // what its older sums are multiplied by, at the end by what
  float block_peak[32];   // the greatest score in the block of columns
  float block_total[32];  // and the sum of the block's weights
  float shift[32];        // -peak, where the rows' accumulators start
  float kept[32];         // 1 where the safe path found a pair that counts
  float holes[64];        // [48]: 1 for a column with one; then how many come before the first
  float fast[4096];       // [32][128], the results that it came to replace
};

// 2 columns x 32 rows of scores.
[[gnu::noinline]] void attention_scores_2x32(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(rows + 32 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  store(scores, s00);
  store(scores + 32, s10);

  store(block_peak, max(load(block_peak), max(s00, s10)));

  store(scores + 8, s01);
  store(scores + 40, s11);

  store(block_peak + 8, max(load(block_peak + 8), max(s01, s11)));

  store(scores + 16, s02);
  store(scores + 48, s12);

  store(block_peak + 16, max(load(block_peak + 16), max(s02, s12)));

  store(scores + 24, s03);
  store(scores + 56, s13);

  store(block_peak + 24, max(load(block_peak + 24), max(s03, s13)));
}

// 2 columns x 8 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_2x8_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
  vec s10 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);

  store(block_peak, max(load(block_peak), max(x0_0, x1_0)));
}

// 2 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_2x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec b1 = load(rows + 32 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);

  store(block_peak, max(load(block_peak), max(x0_0, x1_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);

  store(block_peak + 8, max(load(block_peak + 8), max(x0_1, x1_1)));
}

// 2 columns x 24 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_2x24_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);

  store(block_peak, max(load(block_peak), max(x0_0, x1_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);

  store(block_peak + 8, max(load(block_peak + 8), max(x0_1, x1_1)));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 48, x1_2);

  store(block_peak + 16, max(load(block_peak + 16), max(x0_2, x1_2)));
}

// 2 columns x 32 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_2x32_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(rows + 32 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);

  store(block_peak, max(load(block_peak), max(x0_0, x1_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);

  store(block_peak + 8, max(load(block_peak + 8), max(x0_1, x1_1)));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 48, x1_2);

  store(block_peak + 16, max(load(block_peak + 16), max(x0_2, x1_2)));

  const ivec row_of_lane3 = isplat(row + 24) + iota();
  const vec x0_3 = select(iless_equal(isplat(col), row_of_lane3), s03, removed);
  store(scores + 24, x0_3);
  const vec x1_3 = select(iless_equal(isplat(col + 1), row_of_lane3), s13, removed);
  store(scores + 56, x1_3);

  store(block_peak + 24, max(load(block_peak + 24), max(x0_3, x1_3)));
}

// 2 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_2x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 8 * (row / 8) + 8;
  const bool some0 = col < high0;
  const long high1 = 8 * (row / 8) + 16;
  const bool some1 = col < high1;
  const long high2 = 8 * (row / 8) + 24;
  const bool some2 = col < high2;
  const long high3 = 8 * (row / 8) + 32;
  const bool some3 = col < high3;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : (some3 ? 3 : 4)));
  const long end = some3 ? 4 : (some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0)));
  for (long v = 0; v < 4; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 2; ++i) {
        store(scores + 32 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_2x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_2x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_2x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 4) {
    attention_scores_2x32_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
}

// Step k of 3 rows x 32 columns.
template <int k>
[[gnu::always_inline]] static inline void attention_scores_step_3x32(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s02, vec& s03, vec& s10, vec& s11, vec& s12,
    vec& s13, vec& s20, vec& s21, vec& s22, vec& s23) {
#if defined(sdpa_1_8_512_128_true_PLAIN) || !defined(__x86_64__)
  const vec a0 = splat(scalars[k]);
  const vec a1 = splat(scalars[k + 128]);
  const vec a2 = splat(scalars[k + 256]);
  const vec b0 = load(vectors + 32 * k);
  s00 = fma(a0, b0, s00);
  s10 = fma(a1, b0, s10);
  s20 = fma(a2, b0, s20);
  const vec b1 = load(vectors + 32 * k + 8);
  s01 = fma(a0, b1, s01);
  s11 = fma(a1, b1, s11);
  s21 = fma(a2, b1, s21);
  const vec b2 = load(vectors + 32 * k + 16);
  s02 = fma(a0, b2, s02);
  s12 = fma(a1, b2, s12);
  s22 = fma(a2, b2, s22);
  const vec b3 = load(vectors + 32 * k + 24);
  s03 = fma(a0, b3, s03);
  s13 = fma(a1, b3, s13);
  s23 = fma(a2, b3, s23);
#else
  asm volatile(
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm15\n\t"
      "vbroadcastss 4*%c[k]+512(%[scalars]), %%ymm14\n\t"
      "vbroadcastss 4*%c[k]+1024(%[scalars]), %%ymm13\n\t"
      "vmovups 128*%c[k](%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s00]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s10]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s20]\n\t"
      "vmovups 128*%c[k]+32(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s01]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s11]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s21]\n\t"
      "vmovups 128*%c[k]+64(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s02]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s12]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s22]\n\t"
      "vmovups 128*%c[k]+96(%[vectors]), %%ymm12\n\t"
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

// 3 columns x 32 rows of scores.
[[gnu::noinline]] void attention_scores_3x32(const float* rows, const float* b, float* scores,
    float* block_peak) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  for (long k = 0; k < 128; k += 4) {
    attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
  }

  store(scores, s00);
  store(scores + 32, s10);
  store(scores + 64, s20);

  store(block_peak, max(load(block_peak), max(max(s00, s10), s20)));

  store(scores + 8, s01);
  store(scores + 40, s11);
  store(scores + 72, s21);

  store(block_peak + 8, max(load(block_peak + 8), max(max(s01, s11), s21)));

  store(scores + 16, s02);
  store(scores + 48, s12);
  store(scores + 80, s22);

  store(block_peak + 16, max(load(block_peak + 16), max(max(s02, s12), s22)));

  store(scores + 24, s03);
  store(scores + 56, s13);
  store(scores + 88, s23);

  store(block_peak + 24, max(load(block_peak + 24), max(max(s03, s13), s23)));
}

// 3 columns x 8 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_3x8_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f);
  vec s10 = splat(0.0f);
  vec s20 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 256]);
    s20 = fma(a2, b0, s20);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 64, x2_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), x2_0)));
}

// 3 columns x 16 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_3x16_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f);
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec b1 = load(rows + 32 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 256]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 64, x2_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), x2_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 72, x2_1);

  store(block_peak + 8, max(load(block_peak + 8), max(max(x0_1, x1_1), x2_1)));
}

// Step k of 3 rows x 24 columns.
template <int k>
[[gnu::always_inline]] static inline void attention_scores_step_3x24(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s02, vec& s10, vec& s11, vec& s12, vec& s20,
    vec& s21, vec& s22) {
#if defined(sdpa_1_8_512_128_true_PLAIN) || !defined(__x86_64__)
  const vec b0 = load(vectors + 32 * k);
  const vec b1 = load(vectors + 32 * k + 8);
  const vec b2 = load(vectors + 32 * k + 16);
  const vec a0 = splat(scalars[k]);
  s00 = fma(a0, b0, s00);
  s01 = fma(a0, b1, s01);
  s02 = fma(a0, b2, s02);
  const vec a1 = splat(scalars[k + 128]);
  s10 = fma(a1, b0, s10);
  s11 = fma(a1, b1, s11);
  s12 = fma(a1, b2, s12);
  const vec a2 = splat(scalars[k + 256]);
  s20 = fma(a2, b0, s20);
  s21 = fma(a2, b1, s21);
  s22 = fma(a2, b2, s22);
#else
  asm volatile(
      "vmovups 128*%c[k](%[vectors]), %%ymm15\n\t"
      "vmovups 128*%c[k]+32(%[vectors]), %%ymm14\n\t"
      "vmovups 128*%c[k]+64(%[vectors]), %%ymm13\n\t"
      "vbroadcastss 4*%c[k](%[scalars]), %%ymm12\n\t"
      "vfmadd231ps %%ymm15, %%ymm12, %[s00]\n\t"
      "vfmadd231ps %%ymm14, %%ymm12, %[s01]\n\t"
      "vfmadd231ps %%ymm13, %%ymm12, %[s02]\n\t"
      "vbroadcastss 4*%c[k]+512(%[scalars]), %%ymm11\n\t"
      "vfmadd231ps %%ymm15, %%ymm11, %[s10]\n\t"
      "vfmadd231ps %%ymm14, %%ymm11, %[s11]\n\t"
      "vfmadd231ps %%ymm13, %%ymm11, %[s12]\n\t"
      "vbroadcastss 4*%c[k]+1024(%[scalars]), %%ymm10\n\t"
      "vfmadd231ps %%ymm15, %%ymm10, %[s20]\n\t"
      "vfmadd231ps %%ymm14, %%ymm10, %[s21]\n\t"
      "vfmadd231ps %%ymm13, %%ymm10, %[s22]\n\t"
      : [s00] "+x"(s00), [s01] "+x"(s01), [s02] "+x"(s02),
      [s10] "+x"(s10), [s11] "+x"(s11), [s12] "+x"(s12),
      [s20] "+x"(s20), [s21] "+x"(s21), [s22] "+x"(s22)
      : [scalars] "r"(scalars), [vectors] "r"(vectors), [k] "i"(k)
      : "memory", "xmm10", "xmm11", "xmm12", "xmm13", "xmm14", "xmm15");
#endif
}

// 3 columns x 24 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_3x24_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f);
  for (long k = 0; k < 128; k += 4) {
    attention_scores_step_3x24<0>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<1>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<2>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<3>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 64, x2_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), x2_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 72, x2_1);

  store(block_peak + 8, max(load(block_peak + 8), max(max(x0_1, x1_1), x2_1)));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 48, x1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  store(scores + 80, x2_2);

  store(block_peak + 16, max(load(block_peak + 16), max(max(x0_2, x1_2), x2_2)));
}

// 3 columns x 32 rows of scores, some of them removed.
[[gnu::noinline]] void attention_scores_3x32_in_part(const float* rows, const float* b,
    float* scores, float* block_peak, long row, long col) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);
  for (long k = 0; k < 128; k += 4) {
    attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  store(scores, x0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  store(scores + 32, x1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  store(scores + 64, x2_0);

  store(block_peak, max(load(block_peak), max(max(x0_0, x1_0), x2_0)));

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  store(scores + 8, x0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  store(scores + 40, x1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  store(scores + 72, x2_1);

  store(block_peak + 8, max(load(block_peak + 8), max(max(x0_1, x1_1), x2_1)));

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  store(scores + 16, x0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  store(scores + 48, x1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  store(scores + 80, x2_2);

  store(block_peak + 16, max(load(block_peak + 16), max(max(x0_2, x1_2), x2_2)));

  const ivec row_of_lane3 = isplat(row + 24) + iota();
  const vec x0_3 = select(iless_equal(isplat(col), row_of_lane3), s03, removed);
  store(scores + 24, x0_3);
  const vec x1_3 = select(iless_equal(isplat(col + 1), row_of_lane3), s13, removed);
  store(scores + 56, x1_3);
  const vec x2_3 = select(iless_equal(isplat(col + 2), row_of_lane3), s23, removed);
  store(scores + 88, x2_3);

  store(block_peak + 24, max(load(block_peak + 24), max(max(x0_3, x1_3), x2_3)));
}

// 3 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_scores_in_part_3x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 8 * (row / 8) + 8;
  const bool some0 = col < high0;
  const long high1 = 8 * (row / 8) + 16;
  const bool some1 = col < high1;
  const long high2 = 8 * (row / 8) + 24;
  const bool some2 = col < high2;
  const long high3 = 8 * (row / 8) + 32;
  const bool some3 = col < high3;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : (some3 ? 3 : 4)));
  const long end = some3 ? 4 : (some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0)));
  for (long v = 0; v < 4; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 3; ++i) {
        store(scores + 32 * i + 8 * v, splat(-__builtin_inff()));
      }
    }
  }
  if (end - first == 1) {
    attention_scores_3x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_scores_3x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_scores_3x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
  }
  if (end - first == 4) {
    attention_scores_3x32_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.block_peak + 8 * first, row + 8 * first, col);
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

  const vec old3 = load(local.peak + 24);
  const lanes_t outside3 = negation(either(not_less(splat(0x1p+40f), load(local.block_total + 24)),
      both(not_less(splat(0x1p+120f), load(local.block_total + 24)),
          less_equal(splat(-4.0f) * old3, exponent_of(load(local.block_total + 24))))));
  const vec peak3 =
      select(either(all_lanes(all), outside3), max(old3, load(local.block_peak + 24)), old3);
  store(local.peak + 24, peak3);
  const vec shift3 = splat(0.0f) - peak3;
  store(local.shift + 24, shift3);
  store(local.carry + 24, exp2_nonpositive(old3 - peak3));
  vec total3 = splat(0.0f);

  for (long j = 0; j < count; ++j) {
    const vec w0 = exp2_near(load(local.scores + 32 * j) + shift0);
    store(local.scores + 32 * j, w0);
    total0 = total0 + w0;
    const vec w1 = exp2_near(load(local.scores + 32 * j + 8) + shift1);
    store(local.scores + 32 * j + 8, w1);
    total1 = total1 + w1;
    const vec w2 = exp2_near(load(local.scores + 32 * j + 16) + shift2);
    store(local.scores + 32 * j + 16, w2);
    total2 = total2 + w2;
    const vec w3 = exp2_near(load(local.scores + 32 * j + 24) + shift3);
    store(local.scores + 32 * j + 24, w3);
    total3 = total3 + w3;
  }

  store(local.block_total, total0);
  store(local.block_total + 8, total1);
  store(local.block_total + 16, total2);
  store(local.block_total + 24, total3);
}

// 3 columns x 32 rows of scores; those of the tile before, if any is late, become weights between
// the steps.
[[gnu::noinline]] void attention_late_3x32(const Memory& m, const float* rows, const float* b,
    float* scores, float* late, const float* shift, float* block_total, long c1, long row,
    long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  const vec start3 = load(shift + 24);
  vec s00 = start0, s01 = start1, s02 = start2, s03 = start3;
  vec s10 = start0, s11 = start1, s12 = start2, s13 = start3;
  vec s20 = start0, s21 = start1, s22 = start2, s23 = start3;
  const float* v = m.v + 65536 * c1 + 128 * col;
  const long nth = col / 3 % 32;
  const long next_row = (row + nth + 480) % 512;
  const float* next_a = m.q + 65536 * c1 + 128 * next_row;
  const float* out = m.out + 65536 * c1 + 128 * smaller(row + nth, 511);
  if (late) {
    for (long o = 0; o < 4; ++o) {
      const long from = 32 * o;
      prefetch(b + from + 384);
      prefetch(b + from + 400);
      prefetch(b + from + 512);
      prefetch(b + from + 528);
      prefetch(b + from + 640);
      prefetch(b + from + 656);
      prefetch(v + from);
      prefetch(v + from + 16);
      prefetch(v + from + 128);
      prefetch(v + from + 144);
      prefetch(v + from + 256);
      prefetch(v + from + 272);
      prefetch_l2(next_a + from);
      prefetch_l2(next_a + from + 16);
      prefetch_l2(out + from);
      prefetch_l2(out + from + 16);
      for (long k = from; k < from + 8; k += 4) {
        attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
      }
      exp2_near_in_place(late + 8 * o, block_total + 8 * o);
      for (long k = from + 8; k < from + 16; k += 4) {
        attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
      }
      exp2_near_in_place(late + 8 * o + 32, block_total + 8 * o);
      for (long k = from + 16; k < from + 24; k += 4) {
        attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
      }
      exp2_near_in_place(late + 8 * o + 64, block_total + 8 * o);
      for (long k = from + 24; k < from + 32; k += 4) {
        attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
      }
    }
  } else {
    for (long from = 0; from < 128; from += 32) {
      prefetch(b + from + 384);
      prefetch(b + from + 400);
      prefetch(b + from + 512);
      prefetch(b + from + 528);
      prefetch(b + from + 640);
      prefetch(b + from + 656);
      prefetch(v + from);
      prefetch(v + from + 16);
      prefetch(v + from + 128);
      prefetch(v + from + 144);
      prefetch(v + from + 256);
      prefetch(v + from + 272);
      prefetch_l2(next_a + from);
      prefetch_l2(next_a + from + 16);
      prefetch_l2(out + from);
      prefetch_l2(out + from + 16);
      for (long k = from; k < from + 32; k += 4) {
        attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
        attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13,
            s20, s21, s22, s23);
      }
    }
  }

  store(scores, s00);
  store(scores + 8, s01);
  store(scores + 16, s02);
  store(scores + 24, s03);
  store(scores + 32, s10);
  store(scores + 40, s11);
  store(scores + 48, s12);
  store(scores + 56, s13);
  store(scores + 64, s20);
  store(scores + 72, s21);
  store(scores + 80, s22);
  store(scores + 88, s23);
}

// 3 columns x 32 rows of scores, less the references, become weights.
[[gnu::noinline]] void attention_weigh_3x32(float* scores, float* block_total) {
  for (long i = 0; i < 3; ++i) {
    exp2_near_in_place(scores + 32 * i, block_total);
    exp2_near_in_place(scores + 32 * i + 8, block_total + 8);
    exp2_near_in_place(scores + 32 * i + 16, block_total + 16);
    exp2_near_in_place(scores + 32 * i + 24, block_total + 24);
  }
}

// 3 columns x 8 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_3x8_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
  vec s10 = start0;
  vec s20 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    const vec a2 = splat(b[k + 256]);
    s20 = fma(a2, b0, s20);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 64, w2_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0);
}

// 3 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_3x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
  vec s20 = start0, s21 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec b1 = load(rows + 32 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
    const vec a2 = splat(b[k + 256]);
    s20 = fma(a2, b0, s20);
    s21 = fma(a2, b1, s21);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 64, w2_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 72, w2_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1 + w2_1);
}

// 3 columns x 24 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_3x24_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
  vec s20 = start0, s21 = start1, s22 = start2;
  for (long k = 0; k < 128; k += 4) {
    attention_scores_step_3x24<0>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<1>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<2>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
    attention_scores_step_3x24<3>(b + k, rows + 32 * k, s00, s01, s02, s10, s11, s12, s20, s21,
        s22);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 64, w2_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 72, w2_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1 + w2_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 48, w1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  const vec w2_2 = exp2_near(x2_2);
  store(scores + 80, w2_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2 + w2_2);
}

// 3 columns x 32 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_3x32_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  const vec start3 = load(shift + 24);
  vec s00 = start0, s01 = start1, s02 = start2, s03 = start3;
  vec s10 = start0, s11 = start1, s12 = start2, s13 = start3;
  vec s20 = start0, s21 = start1, s22 = start2, s23 = start3;
  for (long k = 0; k < 128; k += 4) {
    attention_scores_step_3x32<0>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<1>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<2>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
    attention_scores_step_3x32<3>(b + k, rows + 32 * k, s00, s01, s02, s03, s10, s11, s12, s13, s20,
        s21, s22, s23);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);
  const vec x2_0 = select(iless_equal(isplat(col + 2), row_of_lane0), s20, removed);
  const vec w2_0 = exp2_near(x2_0);
  store(scores + 64, w2_0);

  store(block_total, load(block_total) + w0_0 + w1_0 + w2_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);
  const vec x2_1 = select(iless_equal(isplat(col + 2), row_of_lane1), s21, removed);
  const vec w2_1 = exp2_near(x2_1);
  store(scores + 72, w2_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1 + w2_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 48, w1_2);
  const vec x2_2 = select(iless_equal(isplat(col + 2), row_of_lane2), s22, removed);
  const vec w2_2 = exp2_near(x2_2);
  store(scores + 80, w2_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2 + w2_2);

  const ivec row_of_lane3 = isplat(row + 24) + iota();
  const vec x0_3 = select(iless_equal(isplat(col), row_of_lane3), s03, removed);
  const vec w0_3 = exp2_near(x0_3);
  store(scores + 24, w0_3);
  const vec x1_3 = select(iless_equal(isplat(col + 1), row_of_lane3), s13, removed);
  const vec w1_3 = exp2_near(x1_3);
  store(scores + 56, w1_3);
  const vec x2_3 = select(iless_equal(isplat(col + 2), row_of_lane3), s23, removed);
  const vec w2_3 = exp2_near(x2_3);
  store(scores + 88, w2_3);

  store(block_total + 24, load(block_total + 24) + w0_3 + w1_3 + w2_3);
}

// 3 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_3x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 8 * (row / 8) + 8;
  const bool some0 = col < high0;
  const long high1 = 8 * (row / 8) + 16;
  const bool some1 = col < high1;
  const long high2 = 8 * (row / 8) + 24;
  const bool some2 = col < high2;
  const long high3 = 8 * (row / 8) + 32;
  const bool some3 = col < high3;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : (some3 ? 3 : 4)));
  const long end = some3 ? 4 : (some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0)));
  for (long v = 0; v < 4; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 3; ++i) {
        store(scores + 32 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_3x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_3x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_3x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 4) {
    attention_weights_3x32_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// 2 columns x 32 rows of weights.
[[gnu::noinline]] void attention_weights_2x32(const Memory& m, const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long c1, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  const vec start3 = load(shift + 24);
  vec s00 = start0, s01 = start1, s02 = start2, s03 = start3;
  vec s10 = start0, s11 = start1, s12 = start2, s13 = start3;
  const float* v = m.v + 65536 * c1 + 128 * col;
  const long nth = col / 2 % 32;
  const long next_row = (row + nth + 480) % 512;
  const float* next_a = m.q + 65536 * c1 + 128 * next_row;
  const float* out = m.out + 65536 * c1 + 128 * smaller(row + nth, 511);
  for (long from = 0; from < 96; from += 48) {
    prefetch(b + from + 256);
    prefetch(b + from + 272);
    prefetch(b + from + 288);
    prefetch(b + from + 384);
    prefetch(b + from + 400);
    prefetch(b + from + 416);
    prefetch(v + from);
    prefetch(v + from + 16);
    prefetch(v + from + 32);
    prefetch(v + from + 128);
    prefetch(v + from + 144);
    prefetch(v + from + 160);
    prefetch_l2(next_a + from);
    prefetch_l2(next_a + from + 16);
    prefetch_l2(next_a + from + 32);
    prefetch_l2(out + from);
    prefetch_l2(out + from + 16);
    prefetch_l2(out + from + 32);
#pragma GCC unroll 4
    for (long k = from; k < from + 48; ++k) {
      const vec a0 = splat(b[k]);
      const vec a1 = splat(b[k + 128]);
      const vec b0 = load(rows + 32 * k);
      s00 = fma(a0, b0, s00);
      s10 = fma(a1, b0, s10);
      const vec b1 = load(rows + 32 * k + 8);
      s01 = fma(a0, b1, s01);
      s11 = fma(a1, b1, s11);
      const vec b2 = load(rows + 32 * k + 16);
      s02 = fma(a0, b2, s02);
      s12 = fma(a1, b2, s12);
      const vec b3 = load(rows + 32 * k + 24);
      s03 = fma(a0, b3, s03);
      s13 = fma(a1, b3, s13);
    }
  }
#pragma GCC unroll 4
  for (long k = 96; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(rows + 32 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  const vec w0_0 = exp2_near(s00);
  store(scores, w0_0);
  const vec w1_0 = exp2_near(s10);
  store(scores + 32, w1_0);

  store(block_total, load(block_total) + w0_0 + w1_0);

  const vec w0_1 = exp2_near(s01);
  store(scores + 8, w0_1);
  const vec w1_1 = exp2_near(s11);
  store(scores + 40, w1_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1);

  const vec w0_2 = exp2_near(s02);
  store(scores + 16, w0_2);
  const vec w1_2 = exp2_near(s12);
  store(scores + 48, w1_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2);

  const vec w0_3 = exp2_near(s03);
  store(scores + 24, w0_3);
  const vec w1_3 = exp2_near(s13);
  store(scores + 56, w1_3);

  store(block_total + 24, load(block_total + 24) + w0_3 + w1_3);
}

// 2 columns x 8 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_2x8_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  vec s00 = start0;
  vec s10 = start0;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);

  store(block_total, load(block_total) + w0_0 + w1_0);
}

// 2 columns x 16 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_2x16_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  vec s00 = start0, s01 = start1;
  vec s10 = start0, s11 = start1;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec b0 = load(rows + 32 * k);
    const vec b1 = load(rows + 32 * k + 8);
    const vec a0 = splat(b[k]);
    s00 = fma(a0, b0, s00);
    s01 = fma(a0, b1, s01);
    const vec a1 = splat(b[k + 128]);
    s10 = fma(a1, b0, s10);
    s11 = fma(a1, b1, s11);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);

  store(block_total, load(block_total) + w0_0 + w1_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1);
}

// 2 columns x 24 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_2x24_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  vec s00 = start0, s01 = start1, s02 = start2;
  vec s10 = start0, s11 = start1, s12 = start2;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);

  store(block_total, load(block_total) + w0_0 + w1_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 48, w1_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2);
}

// 2 columns x 32 rows of weights, some of them removed.
[[gnu::noinline]] void attention_weights_2x32_in_part(const float* rows, const float* b,
    float* scores, const float* shift, float* block_total, long row, long col) {
  const vec start0 = load(shift);
  const vec start1 = load(shift + 8);
  const vec start2 = load(shift + 16);
  const vec start3 = load(shift + 24);
  vec s00 = start0, s01 = start1, s02 = start2, s03 = start3;
  vec s10 = start0, s11 = start1, s12 = start2, s13 = start3;
#pragma GCC unroll 4
  for (long k = 0; k < 128; ++k) {
    const vec a0 = splat(b[k]);
    const vec a1 = splat(b[k + 128]);
    const vec b0 = load(rows + 32 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(rows + 32 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(rows + 32 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(rows + 32 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  const vec removed = splat(-__builtin_inff());

  const ivec row_of_lane0 = isplat(row) + iota();
  const vec x0_0 = select(iless_equal(isplat(col), row_of_lane0), s00, removed);
  const vec w0_0 = exp2_near(x0_0);
  store(scores, w0_0);
  const vec x1_0 = select(iless_equal(isplat(col + 1), row_of_lane0), s10, removed);
  const vec w1_0 = exp2_near(x1_0);
  store(scores + 32, w1_0);

  store(block_total, load(block_total) + w0_0 + w1_0);

  const ivec row_of_lane1 = isplat(row + 8) + iota();
  const vec x0_1 = select(iless_equal(isplat(col), row_of_lane1), s01, removed);
  const vec w0_1 = exp2_near(x0_1);
  store(scores + 8, w0_1);
  const vec x1_1 = select(iless_equal(isplat(col + 1), row_of_lane1), s11, removed);
  const vec w1_1 = exp2_near(x1_1);
  store(scores + 40, w1_1);

  store(block_total + 8, load(block_total + 8) + w0_1 + w1_1);

  const ivec row_of_lane2 = isplat(row + 16) + iota();
  const vec x0_2 = select(iless_equal(isplat(col), row_of_lane2), s02, removed);
  const vec w0_2 = exp2_near(x0_2);
  store(scores + 16, w0_2);
  const vec x1_2 = select(iless_equal(isplat(col + 1), row_of_lane2), s12, removed);
  const vec w1_2 = exp2_near(x1_2);
  store(scores + 48, w1_2);

  store(block_total + 16, load(block_total + 16) + w0_2 + w1_2);

  const ivec row_of_lane3 = isplat(row + 24) + iota();
  const vec x0_3 = select(iless_equal(isplat(col), row_of_lane3), s03, removed);
  const vec w0_3 = exp2_near(x0_3);
  store(scores + 24, w0_3);
  const vec x1_3 = select(iless_equal(isplat(col + 1), row_of_lane3), s13, removed);
  const vec w1_3 = exp2_near(x1_3);
  store(scores + 56, w1_3);

  store(block_total + 24, load(block_total + 24) + w0_3 + w1_3);
}

// 2 columns x 32 rows where pairs are removed; vectors of rows that keep none are skipped.
[[gnu::noinline]] void attention_weights_in_part_2x32(const float* b, float* scores, long row,
    long col, attention_memory& local) {
  const long high0 = 8 * (row / 8) + 8;
  const bool some0 = col < high0;
  const long high1 = 8 * (row / 8) + 16;
  const bool some1 = col < high1;
  const long high2 = 8 * (row / 8) + 24;
  const bool some2 = col < high2;
  const long high3 = 8 * (row / 8) + 32;
  const bool some3 = col < high3;
  const long first = some0 ? 0 : (some1 ? 1 : (some2 ? 2 : (some3 ? 3 : 4)));
  const long end = some3 ? 4 : (some2 ? 3 : (some1 ? 2 : (some0 ? 1 : 0)));
  for (long v = 0; v < 4; ++v) {
    if (v < first || v >= end) {
      for (long i = 0; i < 2; ++i) {
        store(scores + 32 * i + 8 * v, splat(0.0f));
      }
    }
  }
  if (end - first == 1) {
    attention_weights_2x8_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 2) {
    attention_weights_2x16_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 3) {
    attention_weights_2x24_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
  if (end - first == 4) {
    attention_weights_2x32_in_part(local.rows + 8 * first, b, scores + 8 * first,
        local.shift + 8 * first, local.block_total + 8 * first, row + 8 * first, col);
  }
}

// Weights of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_weights_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.k + 65536 * c1 + 128 * col;
  float* late = nullptr;
  for (long j = from; j < count - 2; j += 3) {
    if (col + j < whole_end) {
      attention_late_3x32(m, local.rows, b + 128 * j, local.scores + 32 * j, late, local.shift,
          local.block_total, c1, row, col + j);
      late = local.scores + 32 * j;
    } else {
      if (late) {
        attention_weigh_3x32(late, local.block_total);
      }
      late = nullptr;
      attention_weights_in_part_3x32(b + 128 * j, local.scores + 32 * j, row, col + j, local);
    }
  }
  if (late) {
    attention_weigh_3x32(late, local.block_total);
  }
  const long rest = 3 * (count / 3);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_weights_2x32(m, local.rows, b + 128 * rest, local.scores + 32 * rest, local.shift,
          local.block_total, c1, row, col + rest);
    } else {
      attention_weights_in_part_2x32(b + 128 * rest, local.scores + 32 * rest, row, col + rest,
          local);
    }
  }
}

// Scores of 32 rows and `count` columns from col on, the first `from` of them left out.
[[gnu::noinline]] void attention_scores_of_32(const Memory& m, long c1, long row, long col,
    long from, long count, long whole_end, attention_memory& local) {
  const float* b = m.k + 65536 * c1 + 128 * col;
  for (long j = from; j < count - 2; j += 3) {
    if (col + j < whole_end) {
      attention_scores_3x32(local.rows, b + 128 * j, local.scores + 32 * j, local.block_peak);
    } else {
      attention_scores_in_part_3x32(b + 128 * j, local.scores + 32 * j, row, col + j, local);
    }
  }
  const long rest = 3 * (count / 3);
  if (rest < count && from <= rest) {
    if (col + rest < whole_end) {
      attention_scores_2x32(local.rows, b + 128 * rest, local.scores + 32 * rest, local.block_peak);
    } else {
      attention_scores_in_part_2x32(b + 128 * rest, local.scores + 32 * rest, row, col + rest,
          local);
    }
  }
}

// What 32 rows have summed so far, multiplied by their carries.
[[gnu::noinline]] void attention_carry_over_32(const Memory& m, long c1, long row,
    attention_memory& local) {
  store(local.total, load(local.carry) * load(local.total));
  store(local.total + 8, load(local.carry + 8) * load(local.total + 8));
  store(local.total + 16, load(local.carry + 16) * load(local.total + 16));
  store(local.total + 24, load(local.carry + 24) * load(local.total + 24));

  float* out = m.out + 65536 * c1 + 128 * row;
  for (long i = 0; i < 32; ++i) {
    const vec carry = splat(local.carry[i]);
    for (long n = 0; n < 128; n += 8) {
      store(out + 128 * i + n, carry * load(out + 128 * i + n));
    }
  }
}

// Of 32 rows, those whose weights are too large get a higher peak; their weights follow.
[[gnu::noinline]] void attention_lower_weights_32(attention_memory& local, long count) {
  for (long i = 0; i < 32; i += 8) {
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
        store(local.scores + i + 32 * j, carry * load(local.scores + i + 32 * j));
      }
    }
  }
}

// Weights of 32 rows and `count` columns, the first `from` of them made from scores, once more
// where they left the range.
[[gnu::noinline]] void attention_mend_32(const Memory& m, long c1, long row, long col, long from,
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
  const lanes_t inside3 = both(inside2,
      either(not_less(splat(0x1p+40f), load(local.block_total + 24)),
          both(not_less(splat(0x1p+120f), load(local.block_total + 24)),
              less_equal(splat(-4.0f) * load(local.peak + 24),
                  exponent_of(load(local.block_total + 24))))));
  if (any(negation(inside3))) {
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    store(local.block_peak + 24, splat(-__FLT_MAX__));
    attention_scores_of_32(m, c1, row, col, 0, count, whole_end, local);
    attention_weigh_32(local, from, false);
    if (!fresh) {
      attention_carry_over_32(m, c1, row, local);
    }
    attention_weights_of_32(m, c1, row, col, from, count, whole_end, local);
  }

  attention_lower_weights_32(local, count);
  if (!fresh) {
    attention_carry_over_32(m, c1, row, local);
  }
}

// Step k of 3 rows x 32 columns.
template <int k>
[[gnu::always_inline]] static inline void attention_values_step_3x32(const float* scalars,
    const float* vectors, vec& s00, vec& s01, vec& s02, vec& s03, vec& s10, vec& s11, vec& s12,
    vec& s13, vec& s20, vec& s21, vec& s22, vec& s23) {
#if defined(sdpa_1_8_512_128_true_PLAIN) || !defined(__x86_64__)
  const vec a0 = splat(scalars[32 * k]);
  const vec a1 = splat(scalars[32 * k + 1]);
  const vec a2 = splat(scalars[32 * k + 2]);
  const vec b0 = load(vectors + 128 * k);
  s00 = fma(a0, b0, s00);
  s10 = fma(a1, b0, s10);
  s20 = fma(a2, b0, s20);
  const vec b1 = load(vectors + 128 * k + 8);
  s01 = fma(a0, b1, s01);
  s11 = fma(a1, b1, s11);
  s21 = fma(a2, b1, s21);
  const vec b2 = load(vectors + 128 * k + 16);
  s02 = fma(a0, b2, s02);
  s12 = fma(a1, b2, s12);
  s22 = fma(a2, b2, s22);
  const vec b3 = load(vectors + 128 * k + 24);
  s03 = fma(a0, b3, s03);
  s13 = fma(a1, b3, s13);
  s23 = fma(a2, b3, s23);
#else
  asm volatile(
      "vbroadcastss 128*%c[k](%[scalars]), %%ymm15\n\t"
      "vbroadcastss 128*%c[k]+4(%[scalars]), %%ymm14\n\t"
      "vbroadcastss 128*%c[k]+8(%[scalars]), %%ymm13\n\t"
      "vmovups 512*%c[k](%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s00]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s10]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s20]\n\t"
      "vmovups 512*%c[k]+32(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s01]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s11]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s21]\n\t"
      "vmovups 512*%c[k]+64(%[vectors]), %%ymm12\n\t"
      "vfmadd231ps %%ymm12, %%ymm15, %[s02]\n\t"
      "vfmadd231ps %%ymm12, %%ymm14, %[s12]\n\t"
      "vfmadd231ps %%ymm12, %%ymm13, %[s22]\n\t"
      "vmovups 512*%c[k]+96(%[vectors]), %%ymm12\n\t"
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
    attention_values_step_3x32<0>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<1>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<2>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<3>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = whole; k < count; ++k) {
    attention_values_step_3x32<0>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 128);
    s11 = s11 + load(out + 136);
    s12 = s12 + load(out + 144);
    s13 = s13 + load(out + 152);
    s20 = s20 + load(out + 256);
    s21 = s21 + load(out + 264);
    s22 = s22 + load(out + 272);
    s23 = s23 + load(out + 280);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 128, s10);
  store(out + 136, s11);
  store(out + 144, s12);
  store(out + 152, s13);
  store(out + 256, s20);
  store(out + 264, s21);
  store(out + 272, s22);
  store(out + 280, s23);
}

// 2 rows x 32 columns of the result, over `count` weights each.
[[gnu::noinline]] void attention_values_2x32(const float* weights, const float* v, long count,
    float* out, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < count; ++k) {
    const vec a0 = splat(weights[32 * k]);
    const vec a1 = splat(weights[32 * k + 1]);
    const vec b0 = load(v + 128 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(v + 128 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(v + 128 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(v + 128 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 128);
    s11 = s11 + load(out + 136);
    s12 = s12 + load(out + 144);
    s13 = s13 + load(out + 152);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 128, s10);
  store(out + 136, s11);
  store(out + 144, s12);
  store(out + 152, s13);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32(const Memory& m, long c1, long row, long col, long count,
    attention_memory& local, bool fresh) {
  const float* v = m.v + 65536 * c1 + 128 * col;
  float* out = m.out + 65536 * c1 + 128 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 24, load(local.total + 24) + load(local.block_total + 24));

  for (long n = 0; n < 128; n += 32) {
    for (long i = 0; i < 30; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32(local.scores + i, v + n, end, out + 128 * i + n, fresh);
    }
    {
      const long high_last = row + 32;
      const long end = smaller(high_last - col, count);
      attention_values_2x32(local.scores + 30, v + n, end, out + n + 3840, fresh);
    }
  }
}

// 32 rows against `count` columns from col on.
[[gnu::noinline]] void attention_visit_32(const Memory& m, long c1, long row, long col, long count,
    long whole_end, attention_memory& local, bool fresh) {
  store(local.block_total, splat(0.0f));
  store(local.block_total + 8, splat(0.0f));
  store(local.block_total + 16, splat(0.0f));
  store(local.block_total + 24, splat(0.0f));
  long done = 0;

  // The first columns give each row the score that the others are compared with.
  if (fresh) {
    const float* b = m.k + 65536 * c1 + 128 * col;
    store(local.block_peak, splat(-__FLT_MAX__));
    store(local.block_peak + 8, splat(-__FLT_MAX__));
    store(local.block_peak + 16, splat(-__FLT_MAX__));
    store(local.block_peak + 24, splat(-__FLT_MAX__));
    if (count < 3) {
      if (col < whole_end) {
        attention_scores_2x32(local.rows, b, local.scores, local.block_peak);
      } else {
        attention_scores_in_part_2x32(b, local.scores, row, col, local);
      }
    } else if (col < whole_end) {
      attention_scores_3x32(local.rows, b, local.scores, local.block_peak);
    } else {
      attention_scores_in_part_3x32(b, local.scores, row, col, local);
    }
    done = smaller(3, count);
    attention_weigh_32(local, done, true);
  }

  attention_weights_of_32(m, c1, row, col, done, count, whole_end, local);

  // Where that score was a poor guess it is mended; the other rows keep every bit.
  const lanes_t inside0 = not_less(splat(0x1p+40f), load(local.block_total));
  const lanes_t inside1 = both(inside0, not_less(splat(0x1p+40f), load(local.block_total + 8)));
  const lanes_t inside2 = both(inside1, not_less(splat(0x1p+40f), load(local.block_total + 16)));
  const lanes_t inside3 = both(inside2, not_less(splat(0x1p+40f), load(local.block_total + 24)));
  if (any(negation(inside3))) {
    attention_mend_32(m, c1, row, col, done, count, whole_end, local, fresh);
  }

  attention_fold_32(m, c1, row, col, count, local, fresh);
}

// Whether all 32 rows are for the safe path already.
[[gnu::noinline]] bool attention_no_row_of_32_is_finite(const Memory& m, long c1, long row) {
  const float* out = m.out + 65536 * c1 + 128 * row;
  for (long i = 0; i < 32; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 128; n += 8) {
      const vec x = load(out + 128 * i + n);
      odd = odd + (x - x);
    }
    if (!has_nan(odd)) {
      return false;
    }
  }
  return true;
}

// Scores of 32 rows become weights, those of removed pairs -0; the rows' state follows.
[[gnu::noinline]] void attention_weigh_32_safely(attention_memory& local, long count) {
  const vec removed = splat(-__builtin_inff());

  const vec old0 = load(local.peak);
  const vec peak0 = max(old0, splat(0.088388346f) * load(local.block_peak));
  store(local.peak, peak0);
  store(local.carry,
      select(both(less(old0, peak0), equal(load(local.kept), splat(1.0f))),
          exp_nonpositive(old0 - peak0), splat(1.0f)));
  vec total0 = splat(0.0f);
  lanes_t all0 = all_lanes(true);

  const vec old1 = load(local.peak + 8);
  const vec peak1 = max(old1, splat(0.088388346f) * load(local.block_peak + 8));
  store(local.peak + 8, peak1);
  store(local.carry + 8,
      select(both(less(old1, peak1), equal(load(local.kept + 8), splat(1.0f))),
          exp_nonpositive(old1 - peak1), splat(1.0f)));
  vec total1 = splat(0.0f);
  lanes_t all1 = all_lanes(true);

  const vec old2 = load(local.peak + 16);
  const vec peak2 = max(old2, splat(0.088388346f) * load(local.block_peak + 16));
  store(local.peak + 16, peak2);
  store(local.carry + 16,
      select(both(less(old2, peak2), equal(load(local.kept + 16), splat(1.0f))),
          exp_nonpositive(old2 - peak2), splat(1.0f)));
  vec total2 = splat(0.0f);
  lanes_t all2 = all_lanes(true);

  const vec old3 = load(local.peak + 24);
  const vec peak3 = max(old3, splat(0.088388346f) * load(local.block_peak + 24));
  store(local.peak + 24, peak3);
  store(local.carry + 24,
      select(both(less(old3, peak3), equal(load(local.kept + 24), splat(1.0f))),
          exp_nonpositive(old3 - peak3), splat(1.0f)));
  vec total3 = splat(0.0f);
  lanes_t all3 = all_lanes(true);

  bool some = false;
  long before_holes = 0;
  for (long j = 0; j < count; ++j) {
    const vec score0 = splat(0.088388346f) * load(local.scores + 32 * j);
    const lanes_t hole0 = equal(score0, removed);
    const vec w0 = select(hole0, splat(-0.0f), exp_nonpositive(score0 - peak0) + splat(0.0f));
    store(local.scores + 32 * j, w0);
    total0 = total0 + w0;
    all0 = both(all0, hole0);
    const vec score1 = splat(0.088388346f) * load(local.scores + 32 * j + 8);
    const lanes_t hole1 = equal(score1, removed);
    const vec w1 = select(hole1, splat(-0.0f), exp_nonpositive(score1 - peak1) + splat(0.0f));
    store(local.scores + 32 * j + 8, w1);
    total1 = total1 + w1;
    all1 = both(all1, hole1);
    const vec score2 = splat(0.088388346f) * load(local.scores + 32 * j + 16);
    const lanes_t hole2 = equal(score2, removed);
    const vec w2 = select(hole2, splat(-0.0f), exp_nonpositive(score2 - peak2) + splat(0.0f));
    store(local.scores + 32 * j + 16, w2);
    total2 = total2 + w2;
    all2 = both(all2, hole2);
    const vec score3 = splat(0.088388346f) * load(local.scores + 32 * j + 24);
    const lanes_t hole3 = equal(score3, removed);
    const vec w3 = select(hole3, splat(-0.0f), exp_nonpositive(score3 - peak3) + splat(0.0f));
    store(local.scores + 32 * j + 24, w3);
    total3 = total3 + w3;
    all3 = both(all3, hole3);
    const bool hole = any(either(either(either(hole0, hole1), hole2), hole3));
    local.holes[j] = hole ? 1.0f : 0.0f;
    some = some || hole;
    before_holes = some ? before_holes : j + 1;
  }

  local.holes[48] = float(before_holes);

  store(local.block_total, total0);
  store(local.kept, select(all0, load(local.kept), splat(1.0f)));

  store(local.block_total + 8, total1);
  store(local.kept + 8, select(all1, load(local.kept + 8), splat(1.0f)));

  store(local.block_total + 16, total2);
  store(local.kept + 16, select(all2, load(local.kept + 16), splat(1.0f)));

  store(local.block_total + 24, total3);
  store(local.kept + 24, select(all3, load(local.kept + 24), splat(1.0f)));
}

// 3 rows x 32 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_3x32_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);
  vec s20 = splat(0.0f), s21 = splat(0.0f), s22 = splat(0.0f), s23 = splat(0.0f);

  const long whole = 4 * (before_holes / 4);
  for (long k = 0; k < whole; k += 4) {
    attention_values_step_3x32<0>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<1>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<2>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
    attention_values_step_3x32<3>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = whole; k < before_holes; ++k) {
    attention_values_step_3x32<0>(weights + 32 * k, v + 128 * k, s00, s01, s02, s03, s10, s11, s12,
        s13, s20, s21, s22, s23);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec a0 = splat(weights[32 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      const vec a1 = splat(weights[32 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      const vec a2 = splat(weights[32 * k + 2]);
      const lanes_t hole2 = is_minus_zero(a2);
      const vec b0 = load(v + 128 * k);
      s00 = fma_unless(hole0, a0, b0, s00);
      s10 = fma_unless(hole1, a1, b0, s10);
      s20 = fma_unless(hole2, a2, b0, s20);
      const vec b1 = load(v + 128 * k + 8);
      s01 = fma_unless(hole0, a0, b1, s01);
      s11 = fma_unless(hole1, a1, b1, s11);
      s21 = fma_unless(hole2, a2, b1, s21);
      const vec b2 = load(v + 128 * k + 16);
      s02 = fma_unless(hole0, a0, b2, s02);
      s12 = fma_unless(hole1, a1, b2, s12);
      s22 = fma_unless(hole2, a2, b2, s22);
      const vec b3 = load(v + 128 * k + 24);
      s03 = fma_unless(hole0, a0, b3, s03);
      s13 = fma_unless(hole1, a1, b3, s13);
      s23 = fma_unless(hole2, a2, b3, s23);
    } else {
      const vec a0 = splat(weights[32 * k]);
      const vec a1 = splat(weights[32 * k + 1]);
      const vec a2 = splat(weights[32 * k + 2]);
      const vec b0 = load(v + 128 * k);
      s00 = fma(a0, b0, s00);
      s10 = fma(a1, b0, s10);
      s20 = fma(a2, b0, s20);
      const vec b1 = load(v + 128 * k + 8);
      s01 = fma(a0, b1, s01);
      s11 = fma(a1, b1, s11);
      s21 = fma(a2, b1, s21);
      const vec b2 = load(v + 128 * k + 16);
      s02 = fma(a0, b2, s02);
      s12 = fma(a1, b2, s12);
      s22 = fma(a2, b2, s22);
      const vec b3 = load(v + 128 * k + 24);
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
    s10 = s10 + load(out + 128);
    s11 = s11 + load(out + 136);
    s12 = s12 + load(out + 144);
    s13 = s13 + load(out + 152);
    s20 = s20 + load(out + 256);
    s21 = s21 + load(out + 264);
    s22 = s22 + load(out + 272);
    s23 = s23 + load(out + 280);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 128, s10);
  store(out + 136, s11);
  store(out + 144, s12);
  store(out + 152, s13);
  store(out + 256, s20);
  store(out + 264, s21);
  store(out + 272, s22);
  store(out + 280, s23);
}

// 2 rows x 32 columns of the result, over `count` weights each, of which those of -0 don't count.
[[gnu::noinline]] void attention_values_2x32_with_holes(const float* weights, const float* v,
    long count, float* out, const float* holes, long before_holes, bool fresh) {
  vec s00 = splat(0.0f), s01 = splat(0.0f), s02 = splat(0.0f), s03 = splat(0.0f);
  vec s10 = splat(0.0f), s11 = splat(0.0f), s12 = splat(0.0f), s13 = splat(0.0f);

#pragma GCC unroll 4
  for (long k = 0; k < before_holes; ++k) {
    const vec a0 = splat(weights[32 * k]);
    const vec a1 = splat(weights[32 * k + 1]);
    const vec b0 = load(v + 128 * k);
    s00 = fma(a0, b0, s00);
    s10 = fma(a1, b0, s10);
    const vec b1 = load(v + 128 * k + 8);
    s01 = fma(a0, b1, s01);
    s11 = fma(a1, b1, s11);
    const vec b2 = load(v + 128 * k + 16);
    s02 = fma(a0, b2, s02);
    s12 = fma(a1, b2, s12);
    const vec b3 = load(v + 128 * k + 24);
    s03 = fma(a0, b3, s03);
    s13 = fma(a1, b3, s13);
  }
  for (long k = before_holes; k < count; ++k) {
    if (holes[k] > 0.0f) {
      const vec a0 = splat(weights[32 * k]);
      const lanes_t hole0 = is_minus_zero(a0);
      const vec a1 = splat(weights[32 * k + 1]);
      const lanes_t hole1 = is_minus_zero(a1);
      const vec b0 = load(v + 128 * k);
      s00 = fma_unless(hole0, a0, b0, s00);
      s10 = fma_unless(hole1, a1, b0, s10);
      const vec b1 = load(v + 128 * k + 8);
      s01 = fma_unless(hole0, a0, b1, s01);
      s11 = fma_unless(hole1, a1, b1, s11);
      const vec b2 = load(v + 128 * k + 16);
      s02 = fma_unless(hole0, a0, b2, s02);
      s12 = fma_unless(hole1, a1, b2, s12);
      const vec b3 = load(v + 128 * k + 24);
      s03 = fma_unless(hole0, a0, b3, s03);
      s13 = fma_unless(hole1, a1, b3, s13);
    } else {
      const vec a0 = splat(weights[32 * k]);
      const vec a1 = splat(weights[32 * k + 1]);
      const vec b0 = load(v + 128 * k);
      s00 = fma(a0, b0, s00);
      s10 = fma(a1, b0, s10);
      const vec b1 = load(v + 128 * k + 8);
      s01 = fma(a0, b1, s01);
      s11 = fma(a1, b1, s11);
      const vec b2 = load(v + 128 * k + 16);
      s02 = fma(a0, b2, s02);
      s12 = fma(a1, b2, s12);
      const vec b3 = load(v + 128 * k + 24);
      s03 = fma(a0, b3, s03);
      s13 = fma(a1, b3, s13);
    }
  }

  if (!fresh) {
    s00 = s00 + load(out);
    s01 = s01 + load(out + 8);
    s02 = s02 + load(out + 16);
    s03 = s03 + load(out + 24);
    s10 = s10 + load(out + 128);
    s11 = s11 + load(out + 136);
    s12 = s12 + load(out + 144);
    s13 = s13 + load(out + 152);
  }

  store(out, s00);
  store(out + 8, s01);
  store(out + 16, s02);
  store(out + 24, s03);
  store(out + 128, s10);
  store(out + 136, s11);
  store(out + 144, s12);
  store(out + 152, s13);
}

// Weights of 32 rows and `count` columns are folded into the result.
[[gnu::noinline]] void attention_fold_32_with_holes(const Memory& m, long c1, long row, long col,
    long count, attention_memory& local, bool fresh) {
  const float* v = m.v + 65536 * c1 + 128 * col;
  float* out = m.out + 65536 * c1 + 128 * row;
  store(local.total, load(local.total) + load(local.block_total));
  store(local.total + 8, load(local.total + 8) + load(local.block_total + 8));
  store(local.total + 16, load(local.total + 16) + load(local.block_total + 16));
  store(local.total + 24, load(local.total + 24) + load(local.block_total + 24));
  const long before = long(local.holes[48]);

  for (long n = 0; n < 128; n += 32) {
    for (long i = 0; i < 30; i += 3) {
      const long high_last = row + i + 3;
      const long end = smaller(high_last - col, count);
      attention_values_3x32_with_holes(local.scores + i, v + n, end, out + 128 * i + n, local.holes,
          smaller(larger(before, 0), end), fresh);
    }
    {
      const long high_last = row + 32;
      const long end = smaller(high_last - col, count);
      attention_values_2x32_with_holes(local.scores + 30, v + n, end, out + n + 3840, local.holes,
          smaller(larger(before, 0), end), fresh);
    }
  }
}

// 32 rows against `count` columns from col on, by the definition.
[[gnu::noinline]] void attention_visit_32_safely(const Memory& m, long c1, long row, long col,
    long count, long whole_end, attention_memory& local, bool fresh) {
  store(local.block_peak, splat(-__builtin_inff()));
  store(local.block_peak + 8, splat(-__builtin_inff()));
  store(local.block_peak + 16, splat(-__builtin_inff()));
  store(local.block_peak + 24, splat(-__builtin_inff()));
  attention_scores_of_32(m, c1, row, col, 0, count, whole_end, local);
  attention_weigh_32_safely(local, count);
  if (!fresh) {
    attention_carry_over_32(m, c1, row, local);
  }

  if (long(local.holes[48]) < count) {
    attention_fold_32_with_holes(m, c1, row, col, count, local, fresh);
  } else {
    attention_fold_32(m, c1, row, col, count, local, fresh);
  }
}

// Rows of the block that are not finite are computed again, over exactly the pairs that count; the
// others keep every bit.
[[gnu::noinline]] void attention_32_rows_safely(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 32 * nth;
  const float* a = m.q + 65536 * c1 + 128 * row;
  float* out = m.out + 65536 * c1 + 128 * row;

  for (long i = 0; i < 32; ++i) {
    for (long n = 0; n < 128; n += 8) {
      store(local.fast + 128 * i + n, load(out + 128 * i + n));
    }
  }

  for (long r = 0; r < 32; r += 8) {
    for (long k = 0; k < 128; k += 8) {
      transpose_block(a + 128 * r + k, 128, local.rows + 32 * k + r, 32, splat(1.0f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.peak + 24, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.total + 8, splat(0.0f));
  store(local.total + 16, splat(0.0f));
  store(local.total + 24, splat(0.0f));
  store(local.kept, splat(0.0f));
  store(local.kept + 8, splat(0.0f));
  store(local.kept + 16, splat(0.0f));
  store(local.kept + 24, splat(0.0f));
  bool fresh = true;
  static const unsigned short whole_end_of_block[] =
      {0, 33, 63, 96, 129, 159, 192, 225, 255, 288, 321, 351, 384, 417, 447, 480};
  const long whole_end = whole_end_of_block[nth];
  static const unsigned short end_of_block[] =
      {33, 66, 96, 129, 162, 192, 225, 258, 288, 321, 354, 384, 417, 450, 480, 512};
  const long end = end_of_block[nth];
  for (long col = 0; col < end; col += 48) {
    attention_visit_32_safely(m, c1, row, col, smaller(48, end - col), whole_end, local, fresh);
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
  store(local.carry + 24,
      select(equal(load(local.kept + 24), splat(1.0f)), splat(1.0f) / load(local.total + 24),
          splat(0.0f)));
  for (long i = 0; i < 32; ++i) {
    vec odd = splat(0.0f);
    for (long n = 0; n < 128; n += 8) {
      const vec x = load(local.fast + 128 * i + n);
      odd = odd + (x - x);
    }
    if (has_nan(odd)) {
      const vec factor = splat(local.carry[i]);
      for (long n = 0; n < 128; n += 8) {
        store(out + 128 * i + n, factor * load(out + 128 * i + n));
      }
    } else {
      for (long n = 0; n < 128; n += 8) {
        store(out + 128 * i + n, load(local.fast + 128 * i + n));
      }
    }
  }
}

// The nth of 16 blocks of 32 rows.
[[gnu::noinline]] void attention_32_rows(const Memory& m, long c1, long nth,
    attention_memory& local) {
  const long row = 32 * nth;
  const float* a = m.q + 65536 * c1 + 128 * row;
  float* out = m.out + 65536 * c1 + 128 * row;

  // Rows change places with their elements: a vector holds the same element of every row.
  for (long r = 0; r < 32; r += 8) {
    for (long k = 0; k < 128; k += 8) {
      transpose_block(a + 128 * r + k, 128, local.rows + 32 * k + r, 32, splat(0.12751743f));
    }
  }

  store(local.peak, splat(-__FLT_MAX__));
  store(local.total, splat(0.0f));
  store(local.peak + 8, splat(-__FLT_MAX__));
  store(local.total + 8, splat(0.0f));
  store(local.peak + 16, splat(-__FLT_MAX__));
  store(local.total + 16, splat(0.0f));
  store(local.peak + 24, splat(-__FLT_MAX__));
  store(local.total + 24, splat(0.0f));

  bool fresh = true;
  static const unsigned short whole_end_of_block[] =
      {0, 33, 63, 96, 129, 159, 192, 225, 255, 288, 321, 351, 384, 417, 447, 480};
  const long whole_end = whole_end_of_block[nth];
  static const unsigned short end_of_block[] =
      {33, 66, 96, 129, 162, 192, 225, 258, 288, 321, 354, 384, 417, 450, 480, 512};
  const long end = end_of_block[nth];
  for (long col = 0; col < end; col += 48) {
    if (!fresh && attention_no_row_of_32_is_finite(m, c1, row)) {
      break;
    }
    attention_visit_32(m, c1, row, col, smaller(48, end - col), whole_end, local, fresh);
    fresh = false;
  }

  store(local.carry, splat(1.0f) / load(local.total));
  store(local.carry + 8, splat(1.0f) / load(local.total + 8));
  store(local.carry + 16, splat(1.0f) / load(local.total + 16));
  store(local.carry + 24, splat(1.0f) / load(local.total + 24));

  // x - x is 0, or NaN if x is not finite.
  vec odd = splat(0.0f);
  for (long i = 0; i < 32; ++i) {
    const vec factor = splat(local.carry[i]);
    vec odd_of_row = splat(0.0f);
    for (long n = 0; n < 128; n += 8) {
      const vec x = factor * load(out + 128 * i + n);
      store(out + 128 * i + n, x);
      odd_of_row = odd_of_row + (x - x);
    }
    odd = odd + odd_of_row;
  }
  if (has_nan(odd)) {
    attention_32_rows_safely(m, c1, nth, local);
  }
}

// An item: one block of rows.
[[gnu::noinline]] void attention(const Memory& m, long item, attention_memory& local) {
  const long block = 15 - item % 16;
  const long c1 = item / 16;
  attention_32_rows(m, c1, block, local);
}

// An item on a thread of its own, whose floating-point state comes back as it was.
template <void (*Item)(const Memory&, long, int)>
void on_worker(void* m, long item, int worker) {
  const unsigned before = set_float_state();
  Item(*static_cast<Memory*>(m), item, worker);
  restore_float_state(before);
}

void attention_item(const Memory& m, long item, int worker) {
  attention(m, item, *reinterpret_cast<attention_memory*>(m.local + 10016L * worker));
}

}  // namespace

size_t workspace_bytes(int workers) { return 40064u * (size_t)workers; }

void run(const sdpa_1_8_512_128_true_args* args, const void* packed, void* workspace, int workers,
    sdpa_1_8_512_128_true_parallel_for parallel_for, void* ctx) {
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
  each(128, attention_item, on_worker<attention_item>);
}

}  // namespace sdpa_1_8_512_128_true_avx2

#ifdef __clang__
  #pragma clang attribute pop
  #pragma clang diagnostic pop
#else
  #pragma GCC pop_options
#endif
