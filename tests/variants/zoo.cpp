#include <zoo/zoo.h>

#include "variants/list.h"

namespace variants {

std::vector<numerics::Spec> zoo_families() {
  using namespace zoo;
#define ATTUNE_FAMILY(name, ...) numerics::spec("zoo_" #name, __VA_ARGS__)
  return {
      ATTUNE_FAMILY(bert, bert<2, 37, 24, 3>),
      ATTUNE_FAMILY(vit, vit<29, 24, 3>),
      ATTUNE_FAMILY(modernbert_local, modernbert<139, 24, 3, true>),
      ATTUNE_FAMILY(modernbert, modernbert<37, 24, 3, false>),
      ATTUNE_FAMILY(swin, swin<3, 5, 24, 3>),
      ATTUNE_FAMILY(t5_encoder, t5_encoder<37, 24, 3, 16>),
      ATTUNE_FAMILY(whisper_encoder, whisper_encoder<41, 24, 3>),
      ATTUNE_FAMILY(whisper_cross, whisper_cross<11, 41, 24, 3>),
      ATTUNE_FAMILY(gpt2, gpt2<37, 24, 3>),
      ATTUNE_FAMILY(mpt, mpt<37, 24, 4>),
      ATTUNE_FAMILY(phi2, phi2<37, 40, 2, 8>),
      ATTUNE_FAMILY(llama2, llama2<37, 24, 3, 3, 16>),
      ATTUNE_FAMILY(llama3, llama3<37, 24, 4, 2, 32>),
      ATTUNE_FAMILY(llama31, llama31<37, 24, 4, 2, 32>),
      ATTUNE_FAMILY(mistral, mistral<37, 24, 4, 2, 16, 9>),
      ATTUNE_FAMILY(qwen3, qwen3<37, 24, 4, 2, 16>),
      ATTUNE_FAMILY(gemma2, gemma2<37, 24, 4, 2, 16, 9>),
      ATTUNE_FAMILY(gemma3, gemma3<37, 24, 4, 1, 16, 9>),
      ATTUNE_FAMILY(gemma2_global, gemma2<37, 24, 4, 2, 16, 0>),
      ATTUNE_FAMILY(gemma3_global, gemma3<37, 24, 4, 1, 16, 0>),
      ATTUNE_FAMILY(llama4, llama4<37, 24, 4, 2, 16, 8>),
      ATTUNE_FAMILY(llama4_global, llama4<37, 24, 4, 2, 16, 0>),
      ATTUNE_FAMILY(variant_causal, variant_causal<37>),
      ATTUNE_FAMILY(variant_window, variant_window<53, 9>),
      ATTUNE_FAMILY(variant_first_and_window, variant_first_and_window<53, 3, 9>),
      ATTUNE_FAMILY(variant_chunked, variant_chunked<53, 8>),
      ATTUNE_FAMILY(variant_prefix, variant_prefix<37, 9>),
      ATTUNE_FAMILY(variant_documents, variant_documents<53>),
      ATTUNE_FAMILY(variant_allowed, variant_allowed<37>),
      ATTUNE_FAMILY(variant_alibi, variant_alibi<53>),
      ATTUNE_FAMILY(variant_slopes, variant_slopes<37>),
      ATTUNE_FAMILY(variant_bias, variant_bias<53>),
      ATTUNE_FAMILY(variant_softcap, variant_softcap<37>),
      ATTUNE_FAMILY(deepseek, deepseek<37, 24, 3, 40, 16, 8, 24>),
      ATTUNE_FAMILY(deepseek_absorbed, deepseek_absorbed<9, 37, 3, 40, 8, 24>),
      ATTUNE_FAMILY(gpt_oss, gpt_oss<37, 24, 4, 2, 32, 9>),
      ATTUNE_FAMILY(gpt_oss_global, gpt_oss<37, 24, 4, 2, 32, 0>),
  };
#undef ATTUNE_FAMILY
}

}  // namespace variants
