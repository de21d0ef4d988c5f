// Prints how many bytes of memory this process holds at most, its code aside, beyond what it held before it made its
// arrays: ./memory naive, or ./memory kernel for the generated code. One process measures one of them.
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>

#include "attention.h"  // attune gen 'sdpa<1,1,T,64,false>' --name attention

// Memory that is the process's own and in use, in bytes.
static long held(void) {
  char line[256];
  long kilobytes = -1;
  FILE* file = fopen("/proc/self/status", "r");
  while (file && fgets(line, sizeof line, file)) sscanf(line, "RssAnon: %ld", &kilobytes);
  if (file) fclose(file);
  if (kilobytes < 0) {
    fprintf(stderr, "memory: /proc/self/status does not say how much memory this process holds\n");
    exit(1);
  }
  return kilobytes * 1024;
}

// It grows until the naive code frees its matrix. The kernel frees nothing.
static long most;
static void measure_and_free(void* p) {
  most = held();
  free(p);
}
#define free measure_and_free
#include "naive.h"
#undef free

static float* filled(long floats) {
  float* p = malloc(floats * sizeof(float));
  for (long i = 0; i < floats; ++i) p[i] = (float)(i * 37 % 101) / 101;
  return p;
}

int main(int argc, char** argv) {
  if (argc != 2 || (strcmp(argv[1], "naive") && strcmp(argv[1], "kernel"))) {
    fprintf(stderr, "usage: %s naive|kernel\n", argv[0]);
    return 2;
  }
  prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0);  // pages of 4 kB: what is touched is what counts
  const long before = held();
  float *q = filled(attention_q_FLOATS), *k = filled(attention_k_FLOATS), *v = filled(attention_v_FLOATS), *out = filled(attention_out_FLOATS);
  if (strcmp(argv[1], "naive") == 0) {
    const long shape[] = {attention_q_SHAPE};
    naive(shape[2], shape[3], q, k, v, out);
  } else {
    const size_t bytes = attention_workspace_bytes(1);
    const attention_args args = {.q = q, .k = k, .v = v, .out = out};
    const int code = attention_checked(&args, NULL, aligned_alloc(64, (bytes + 63) / 64 * 64), bytes, 1, NULL, NULL);
    if (code != attention_ok) return 1;
    most = held();
  }
  if (!(out[0] > 0 && out[0] < 1)) return 1;  // a mean of such values; also, it is used
  printf("%ld\n", most - before);
  return 0;
}
