// softmax(q k^T / sqrt(d)) v of one head as it is written down: q, k, v, out [t, d], row after row.
#include <math.h>
#include <stdlib.h>

static void naive(long t, long d, const float* q, const float* k, const float* v, float* out) {
  float* p = malloc((size_t)t * t * sizeof(float));  // scores, then weights: t x t of them
  for (long i = 0; i < t; ++i)
    for (long j = 0; j < t; ++j) {
      float dot = 0;
      for (long c = 0; c < d; ++c) dot += q[i * d + c] * k[j * d + c];
      p[i * t + j] = dot / sqrtf((float)d);
    }
  for (long i = 0; i < t; ++i) {
    float m = -INFINITY, l = 0;
    for (long j = 0; j < t; ++j) m = fmaxf(m, p[i * t + j]);
    for (long j = 0; j < t; ++j) l += p[i * t + j] = expf(p[i * t + j] - m);
    for (long j = 0; j < t; ++j) p[i * t + j] /= l;
  }
  for (long i = 0; i < t; ++i)
    for (long c = 0; c < d; ++c) {
      float sum = 0;
      for (long j = 0; j < t; ++j) sum += p[i * t + j] * v[j * d + c];
      out[i * d + c] = sum;
    }
  free(p);
}
