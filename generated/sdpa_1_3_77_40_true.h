// sdpa_1_3_77_40_true: the interface. Made by
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
#ifndef ATTUNE_sdpa_1_3_77_40_true_H
#define ATTUNE_sdpa_1_3_77_40_true_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

// Dense, row-major. Outputs may not overlap anything else.
typedef struct sdpa_1_3_77_40_true_args {
  const float* q;  // [1, 3, 77, 40]
  const float* k;  // [1, 3, 77, 40]
  const float* v;  // [1, 3, 77, 40]
  float* out;      // [1, 3, 77, 40]
} sdpa_1_3_77_40_true_args;

// Runs body(state, item, worker) for every item below `items`, in any order, on any threads; worker
// is below `workers`, and no two calls at a time share one.
typedef void (*sdpa_1_3_77_40_true_parallel_for)(void* ctx, long items,
    void (*body)(void* state, long item, int worker), void* state);

enum {
  sdpa_1_3_77_40_true_ok,
  sdpa_1_3_77_40_true_null,
  sdpa_1_3_77_40_true_workspace_small,
  sdpa_1_3_77_40_true_workspace_misaligned,
  sdpa_1_3_77_40_true_alias,
  sdpa_1_3_77_40_true_no_isa
};

// Of each tensor its shape, as in const long shape[] = {sdpa_1_3_77_40_true_q_SHAPE}, and its size.
#define sdpa_1_3_77_40_true_q_SHAPE 1, 3, 77, 40
#define sdpa_1_3_77_40_true_q_FLOATS 9240L
#define sdpa_1_3_77_40_true_k_SHAPE 1, 3, 77, 40
#define sdpa_1_3_77_40_true_k_FLOATS 9240L
#define sdpa_1_3_77_40_true_v_SHAPE 1, 3, 77, 40
#define sdpa_1_3_77_40_true_v_FLOATS 9240L
#define sdpa_1_3_77_40_true_out_SHAPE 1, 3, 77, 40
#define sdpa_1_3_77_40_true_out_FLOATS 9240L

#define sdpa_1_3_77_40_true_FLOPS 1441440.0  // of one call; removed pairs do not count
#define sdpa_1_3_77_40_true_BYTES 147840.0   // of inputs, outputs and weights

// Bytes of scratch memory, 64-byte aligned, that a call with this many workers needs.
size_t sdpa_1_3_77_40_true_workspace_bytes(int workers);

// 0: there is nothing to pack, and `packed` is not read.
size_t sdpa_1_3_77_40_true_packed_bytes(void);

// Checks the arguments first and returns one of the codes above. A null parallel_for is serial.
int sdpa_1_3_77_40_true_checked(const sdpa_1_3_77_40_true_args* args, const void* packed,
    void* workspace, size_t workspace_bytes, int workers,
    sdpa_1_3_77_40_true_parallel_for parallel_for, void* ctx);
// The same without any check.
void sdpa_1_3_77_40_true(const sdpa_1_3_77_40_true_args* args, const void* packed, void* workspace,
    int workers, sdpa_1_3_77_40_true_parallel_for parallel_for, void* ctx);

#ifdef __cplusplus
}
#endif
#endif
