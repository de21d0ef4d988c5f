// textbook_mha_1_137_320_5: the interface. Made by
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
#ifndef ATTUNE_textbook_mha_1_137_320_5_H
#define ATTUNE_textbook_mha_1_137_320_5_H
#include <stddef.h>
#ifdef __cplusplus
extern "C" {
#endif

// Dense, row-major. Outputs may not overlap anything else.
typedef struct textbook_mha_1_137_320_5_args {
  const float* x;  // [1, 137, 320]
  float* out;      // [1, 137, 320]
} textbook_mha_1_137_320_5_args;

// Matrices are [out, in], as in torch.nn.Linear.
typedef struct textbook_mha_1_137_320_5_weights {
  const float* wq;  // [320, 320]
  const float* wk;  // [320, 320]
  const float* wv;  // [320, 320]
  const float* wo;  // [320, 320]
} textbook_mha_1_137_320_5_weights;

// Runs body(state, item, worker) for every item below `items`, in any order, on any threads; worker
// is below `workers`, and no two calls at a time share one.
typedef void (*textbook_mha_1_137_320_5_parallel_for)(void* ctx, long items,
    void (*body)(void* state, long item, int worker), void* state);

enum {
  textbook_mha_1_137_320_5_ok,
  textbook_mha_1_137_320_5_null,
  textbook_mha_1_137_320_5_workspace_small,
  textbook_mha_1_137_320_5_workspace_misaligned,
  textbook_mha_1_137_320_5_alias,
  textbook_mha_1_137_320_5_no_isa
};

// Of each tensor its shape, as in const long shape[] = {textbook_mha_1_137_320_5_x_SHAPE}, and its
// size.
#define textbook_mha_1_137_320_5_x_SHAPE 1, 137, 320
#define textbook_mha_1_137_320_5_x_FLOATS 43840L
#define textbook_mha_1_137_320_5_out_SHAPE 1, 137, 320
#define textbook_mha_1_137_320_5_out_FLOATS 43840L
#define textbook_mha_1_137_320_5_wq_SHAPE 320, 320
#define textbook_mha_1_137_320_5_wq_FLOATS 102400L
#define textbook_mha_1_137_320_5_wk_SHAPE 320, 320
#define textbook_mha_1_137_320_5_wk_FLOATS 102400L
#define textbook_mha_1_137_320_5_wv_SHAPE 320, 320
#define textbook_mha_1_137_320_5_wv_FLOATS 102400L
#define textbook_mha_1_137_320_5_wo_SHAPE 320, 320
#define textbook_mha_1_137_320_5_wo_FLOATS 102400L

#define textbook_mha_1_137_320_5_FLOPS 124330240.0  // of one call; removed pairs do not count
#define textbook_mha_1_137_320_5_BYTES 1989120.0    // of inputs, outputs and weights

// Bytes of scratch memory, 64-byte aligned, that a call with this many workers needs.
size_t textbook_mha_1_137_320_5_workspace_bytes(int workers);

// Bytes of packed weights, 64-byte aligned; packed on one CPU, they serve CPUs of the same ISA.
size_t textbook_mha_1_137_320_5_packed_bytes(void);
void textbook_mha_1_137_320_5_pack_weights(const textbook_mha_1_137_320_5_weights* weights,
    void* packed);

// Checks the arguments first and returns one of the codes above. A null parallel_for is serial.
int textbook_mha_1_137_320_5_checked(const textbook_mha_1_137_320_5_args* args, const void* packed,
    void* workspace, size_t workspace_bytes, int workers,
    textbook_mha_1_137_320_5_parallel_for parallel_for, void* ctx);
// The same without any check.
void textbook_mha_1_137_320_5(const textbook_mha_1_137_320_5_args* args, const void* packed,
    void* workspace, int workers, textbook_mha_1_137_320_5_parallel_for parallel_for, void* ctx);

#ifdef __cplusplus
}
#endif
#endif
