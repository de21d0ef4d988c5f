// sdpa_1_8_512_64_false: picks the ISA on every call, and checks arguments. Made by
//   attune gen 'sdpa<1,8,512,64,false>' --isa portable,avx2,avx512
#include "sdpa_1_8_512_64_false.h"

#include <stdint.h>

namespace sdpa_1_8_512_64_false_portable {
size_t workspace_bytes(int workers);
void run(const sdpa_1_8_512_64_false_args* args, const void* packed, void* workspace, int workers,
    sdpa_1_8_512_64_false_parallel_for parallel_for, void* ctx);
}  // namespace sdpa_1_8_512_64_false_portable

namespace sdpa_1_8_512_64_false_avx2 {
size_t workspace_bytes(int workers);
void run(const sdpa_1_8_512_64_false_args* args, const void* packed, void* workspace, int workers,
    sdpa_1_8_512_64_false_parallel_for parallel_for, void* ctx);
}  // namespace sdpa_1_8_512_64_false_avx2

namespace sdpa_1_8_512_64_false_avx512 {
size_t workspace_bytes(int workers);
void run(const sdpa_1_8_512_64_false_args* args, const void* packed, void* workspace, int workers,
    sdpa_1_8_512_64_false_parallel_for parallel_for, void* ctx);
}  // namespace sdpa_1_8_512_64_false_avx512

namespace {

enum class Isa {
  none,
  portable,
  avx2,
  avx512,
};

// The best that this CPU has.
Isa best_isa() {
  if (__builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512vl") &&
      __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw")) {
    return Isa::avx512;
  }
  if (__builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma")) return Isa::avx2;
  return Isa::portable;
}

bool misaligned(const void* p) { return reinterpret_cast<uintptr_t>(p) % 64 != 0; }

// Whether [a, a + a_bytes) and [b, b + b_bytes) share a byte.
bool overlap(const void* a, size_t a_bytes, const void* b, size_t b_bytes) {
  const uintptr_t x = reinterpret_cast<uintptr_t>(a), y = reinterpret_cast<uintptr_t>(b);
  return a_bytes && b_bytes && x < y + b_bytes && y < x + a_bytes;
}

}  // namespace

extern "C" {

size_t sdpa_1_8_512_64_false_workspace_bytes(int workers) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return sdpa_1_8_512_64_false_portable::workspace_bytes(workers < 1 ? 1 : workers);
    case Isa::avx2:
      return sdpa_1_8_512_64_false_avx2::workspace_bytes(workers < 1 ? 1 : workers);
    case Isa::avx512:
      return sdpa_1_8_512_64_false_avx512::workspace_bytes(workers < 1 ? 1 : workers);
  }
  return 0;
}

size_t sdpa_1_8_512_64_false_packed_bytes(void) { return 0; }

void sdpa_1_8_512_64_false(const sdpa_1_8_512_64_false_args* args, const void* packed,
    void* workspace, int workers, sdpa_1_8_512_64_false_parallel_for parallel_for, void* ctx) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return sdpa_1_8_512_64_false_portable::run(args, packed, workspace, workers, parallel_for,
          ctx);
    case Isa::avx2:
      return sdpa_1_8_512_64_false_avx2::run(args, packed, workspace, workers, parallel_for, ctx);
    case Isa::avx512:
      return sdpa_1_8_512_64_false_avx512::run(args, packed, workspace, workers, parallel_for, ctx);
  }
}

int sdpa_1_8_512_64_false_checked(const sdpa_1_8_512_64_false_args* args, const void* packed,
    void* workspace, size_t workspace_bytes, int workers,
    sdpa_1_8_512_64_false_parallel_for parallel_for, void* ctx) {
  if (best_isa() == Isa::none) return sdpa_1_8_512_64_false_no_isa;

  if (!args || !args->q || !args->k || !args->v || !args->out) return sdpa_1_8_512_64_false_null;
  const size_t needed = sdpa_1_8_512_64_false_workspace_bytes(workers);
  if (needed && !workspace) return sdpa_1_8_512_64_false_null;
  if (workspace_bytes < needed) return sdpa_1_8_512_64_false_workspace_small;
  if (misaligned(workspace)) return sdpa_1_8_512_64_false_workspace_misaligned;

  const bool alias = overlap(args->out, 1048576, args->q, 1048576) ||
      overlap(args->out, 1048576, args->k, 1048576) ||
      overlap(args->out, 1048576, args->v, 1048576) ||
      overlap(args->out, 1048576, workspace, needed) ||
      overlap(workspace, needed, args->q, 1048576) ||
      overlap(workspace, needed, args->k, 1048576) || overlap(workspace, needed, args->v, 1048576);
  if (alias) return sdpa_1_8_512_64_false_alias;

  sdpa_1_8_512_64_false(args, packed, workspace, workers < 1 ? 1 : workers, parallel_for, ctx);
  return sdpa_1_8_512_64_false_ok;
}

}  // extern "C"
