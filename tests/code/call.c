// One call of a generated kernel, whose instructions counts.sh counts. Compiled with -include NAME.h
// -DNAME=NAME, and the numbers of floats of its tensors, in order: -DINPUTS=.. -DOUTPUTS=.., and
// -DWEIGHTS=.. if it has any.
#include <math.h>
#include <stddef.h>
#include <stdlib.h>

#define JOIN(a, b) a##b
#define JOINED(a, b) JOIN(a, b)
#define OF(part) JOINED(NAME, part)

static void* aligned(size_t bytes) { return aligned_alloc(64, bytes / 64 * 64 + 64); }

// Uniform, of mean 0 and this standard deviation.
static float* random_floats(long n, double sd) {
  static unsigned state = 1;
  float* p = aligned((size_t)n * sizeof(float));
  for (long i = 0; i < n; ++i) {
    state = state * 1664525u + 1013904223u;
    p[i] = (float)(((state >> 8) / 16777216.0 - 0.5) * sqrt(12.0) * sd);
  }
  return p;
}

int main(void) {
  if (OF(_checked)(NULL, NULL, NULL, 0, 1, NULL, NULL) == OF(_no_isa)) return 77;
  const long inputs[] = {INPUTS}, outputs[] = {OUTPUTS};
  enum { in = sizeof inputs / sizeof *inputs, out = sizeof outputs / sizeof *outputs };
  float* tensors[in + out];
  for (int i = 0; i < in; ++i) tensors[i] = random_floats(inputs[i], 1);
  for (int i = 0; i < out; ++i) tensors[in + i] = random_floats(outputs[i], NAN);
  OF(_args) args;
  _Static_assert(sizeof args == sizeof tensors, "a struct of pointers alone");
  __builtin_memcpy(&args, tensors, sizeof args);
  void* packed = aligned(OF(_packed_bytes)());
#ifdef WEIGHTS
  const long weights[] = {WEIGHTS};
  enum { count = sizeof weights / sizeof *weights };
  float* matrices[count];
  for (int i = 0; i < count; ++i) matrices[i] = random_floats(weights[i], pow((double)weights[i], -0.25));  // of a square one: 1 / sqrt(in)
  OF(_weights) all;
  _Static_assert(sizeof all == sizeof matrices, "a struct of pointers alone");
  __builtin_memcpy(&all, matrices, sizeof all);
  OF(_pack_weights)(&all, packed);
#endif
  NAME(&args, packed, aligned(OF(_workspace_bytes)(1)), 1, NULL, NULL);
  for (int i = 0; i < out; ++i)
    for (long k = 0; k < outputs[i]; ++k)
      if (!isfinite(tensors[in + i][k])) return 1;
  return 0;
}
