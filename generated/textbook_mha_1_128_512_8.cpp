// textbook_mha_1_128_512_8: picks the ISA on every call, and checks arguments. Made by
//   attune gen 'textbook_mha<1,128,512,8>' --isa portable,avx2,avx512
#include "textbook_mha_1_128_512_8.h"

#include <stdint.h>

namespace textbook_mha_1_128_512_8_portable {
size_t workspace_bytes(int workers);
size_t packed_bytes();
void pack_weights(const textbook_mha_1_128_512_8_weights* weights, float* packed);
void run(const textbook_mha_1_128_512_8_args* args, const void* packed, void* workspace,
    int workers, textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx);
}  // namespace textbook_mha_1_128_512_8_portable

namespace textbook_mha_1_128_512_8_avx2 {
size_t workspace_bytes(int workers);
size_t packed_bytes();
void pack_weights(const textbook_mha_1_128_512_8_weights* weights, float* packed);
void run(const textbook_mha_1_128_512_8_args* args, const void* packed, void* workspace,
    int workers, textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx);
}  // namespace textbook_mha_1_128_512_8_avx2

namespace textbook_mha_1_128_512_8_avx512 {
size_t workspace_bytes(int workers);
size_t packed_bytes();
void pack_weights(const textbook_mha_1_128_512_8_weights* weights, float* packed);
void run(const textbook_mha_1_128_512_8_args* args, const void* packed, void* workspace,
    int workers, textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx);
}  // namespace textbook_mha_1_128_512_8_avx512

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

size_t textbook_mha_1_128_512_8_workspace_bytes(int workers) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return textbook_mha_1_128_512_8_portable::workspace_bytes(workers < 1 ? 1 : workers);
    case Isa::avx2:
      return textbook_mha_1_128_512_8_avx2::workspace_bytes(workers < 1 ? 1 : workers);
    case Isa::avx512:
      return textbook_mha_1_128_512_8_avx512::workspace_bytes(workers < 1 ? 1 : workers);
  }
  return 0;
}

size_t textbook_mha_1_128_512_8_packed_bytes(void) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return textbook_mha_1_128_512_8_portable::packed_bytes();
    case Isa::avx2:
      return textbook_mha_1_128_512_8_avx2::packed_bytes();
    case Isa::avx512:
      return textbook_mha_1_128_512_8_avx512::packed_bytes();
  }
  return 0;
}

void textbook_mha_1_128_512_8_pack_weights(const textbook_mha_1_128_512_8_weights* weights,
    void* packed) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return textbook_mha_1_128_512_8_portable::pack_weights(weights, static_cast<float*>(packed));
    case Isa::avx2:
      return textbook_mha_1_128_512_8_avx2::pack_weights(weights, static_cast<float*>(packed));
    case Isa::avx512:
      return textbook_mha_1_128_512_8_avx512::pack_weights(weights, static_cast<float*>(packed));
  }
}

void textbook_mha_1_128_512_8(const textbook_mha_1_128_512_8_args* args, const void* packed,
    void* workspace, int workers, textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx) {
  switch (best_isa()) {
    case Isa::none:
      break;
    case Isa::portable:
      return textbook_mha_1_128_512_8_portable::run(args, packed, workspace, workers, parallel_for,
          ctx);
    case Isa::avx2:
      return textbook_mha_1_128_512_8_avx2::run(args, packed, workspace, workers, parallel_for,
          ctx);
    case Isa::avx512:
      return textbook_mha_1_128_512_8_avx512::run(args, packed, workspace, workers, parallel_for,
          ctx);
  }
}

int textbook_mha_1_128_512_8_checked(const textbook_mha_1_128_512_8_args* args, const void* packed,
    void* workspace, size_t workspace_bytes, int workers,
    textbook_mha_1_128_512_8_parallel_for parallel_for, void* ctx) {
  if (best_isa() == Isa::none) return textbook_mha_1_128_512_8_no_isa;

  if (!args || !args->x || !args->out || !packed) return textbook_mha_1_128_512_8_null;
  const size_t needed = textbook_mha_1_128_512_8_workspace_bytes(workers);
  if (needed && !workspace) return textbook_mha_1_128_512_8_null;
  if (workspace_bytes < needed) return textbook_mha_1_128_512_8_workspace_small;
  if (misaligned(workspace) || misaligned(packed)) {
    return textbook_mha_1_128_512_8_workspace_misaligned;
  }

  const bool alias = overlap(args->out, 262144, args->x, 262144) ||
      overlap(args->out, 262144, packed, textbook_mha_1_128_512_8_packed_bytes()) ||
      overlap(args->out, 262144, workspace, needed) ||
      overlap(workspace, needed, args->x, 262144) ||
      overlap(workspace, needed, packed, textbook_mha_1_128_512_8_packed_bytes());
  if (alias) return textbook_mha_1_128_512_8_alias;

  textbook_mha_1_128_512_8(args, packed, workspace, workers < 1 ? 1 : workers, parallel_for, ctx);
  return textbook_mha_1_128_512_8_ok;
}

}  // extern "C"
