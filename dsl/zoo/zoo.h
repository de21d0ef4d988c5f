// The named configurations, which `attune list` shows: of the textbook, what generated/ holds and `attune
// bench` runs; of well-known models, one attention layer each by its published sizes; and what
// people change about causal attention, one at a time.
#pragma once
#include <boost/hana/tuple.hpp>
#include <string_view>
#include <zoo/decoders.h>
#include <zoo/encoders.h>
#include <zoo/latent.h>
#include <zoo/variants.h>

namespace zoo {

template <class Spec>
struct entry {
  std::string_view expression;  // as a user writes it after `attune gen`
  std::string_view note;
  Spec spec;
};
template <class Spec>
entry(std::string_view, std::string_view, Spec) -> entry<Spec>;

#define ATTUNE_ENTRY(note, ...) \
  entry { #__VA_ARGS__, note, __VA_ARGS__ }
inline constexpr auto all = boost::hana::make_tuple(
    ATTUNE_ENTRY("block with projections and RoPE", textbook_mha<1, 128, 512, 8>),
    ATTUNE_ENTRY("block with projections and RoPE", textbook_mha<1, 512, 512, 8>),
    ATTUNE_ENTRY("a batch of two", textbook_mha<2, 64, 256, 4>),
    ATTUNE_ENTRY("odd sizes", textbook_mha<1, 137, 320, 5>),
    ATTUNE_ENTRY("full attention", sdpa<1, 8, 128, 64, false>),
    ATTUNE_ENTRY("causal attention", sdpa<1, 8, 128, 64, true>),
    ATTUNE_ENTRY("full attention", sdpa<1, 8, 512, 64, false>),
    ATTUNE_ENTRY("causal attention", sdpa<1, 8, 512, 64, true>),
    ATTUNE_ENTRY("causal attention, wide heads", sdpa<1, 8, 512, 128, true>),
    ATTUNE_ENTRY("odd sizes", sdpa<1, 3, 77, 40, true>));
inline constexpr auto models = boost::hana::make_tuple(
    ATTUNE_ENTRY("BERT base", bert<1, 512, 768, 12>),
    ATTUNE_ENTRY("MiniLM-L6", bert<1, 256, 384, 12>),
    ATTUNE_ENTRY("ModernBERT base, local layer", modernbert<512, 768, 12, true>),
    ATTUNE_ENTRY("ModernBERT base, global layer", modernbert<512, 768, 12, false>),
    ATTUNE_ENTRY("ViT-B/16", vit<197, 768, 12>),
    ATTUNE_ENTRY("Swin-T, first stage", swin<64, 7, 96, 3>),
    ATTUNE_ENTRY("T5 small, encoder", t5_encoder<512, 512, 8, 64>),
    ATTUNE_ENTRY("Whisper tiny, encoder", whisper_encoder<1500, 384, 6>),
    ATTUNE_ENTRY("Whisper tiny, cross-attention", whisper_cross<448, 1500, 384, 6>),
    ATTUNE_ENTRY("GPT-2 small", gpt2<1024, 768, 12>),
    ATTUNE_ENTRY("MPT 7B", mpt<512, 4096, 32>),
    ATTUNE_ENTRY("Phi-2", phi2<512, 2560, 32, 32>),
    ATTUNE_ENTRY("Llama 2 7B", llama2<512, 4096, 32, 32, 128>),
    ATTUNE_ENTRY("Llama 3 8B", llama3<512, 4096, 32, 8, 128>),
    ATTUNE_ENTRY("Llama 3.1 8B", llama31<512, 4096, 32, 8, 128>),
    ATTUNE_ENTRY("Mistral 7B", mistral<512, 4096, 32, 8, 128, 4096>),
    ATTUNE_ENTRY("Qwen 3 0.6B", qwen3<512, 1024, 16, 8, 128>),
    ATTUNE_ENTRY("Qwen 3 8B", qwen3<512, 4096, 32, 8, 128>),
    ATTUNE_ENTRY("Gemma 2 2B, local layer", gemma2<512, 2304, 8, 4, 256, 4096>),
    ATTUNE_ENTRY("Gemma 2 2B, global layer", gemma2<512, 2304, 8, 4, 256, 0>),
    ATTUNE_ENTRY("Gemma 3 1B, local layer", gemma3<512, 1152, 4, 1, 256, 512>),
    ATTUNE_ENTRY("Gemma 3 1B, global layer", gemma3<512, 1152, 4, 1, 256, 0>),
    ATTUNE_ENTRY("Llama 4 Maverick, layer of chunks", llama4<512, 5120, 40, 8, 128, 8192>),
    ATTUNE_ENTRY("Llama 4 Maverick, layer without positions", llama4<512, 5120, 40, 8, 128, 0>),
    ATTUNE_ENTRY("DeepSeek-V2-Lite", deepseek<512, 2048, 16, 512, 128, 64, 128>),
    ATTUNE_ENTRY("the same, absorbed: queries by a cache of latents", deepseek_absorbed<64, 512, 16, 512, 64, 192>),
    ATTUNE_ENTRY("gpt-oss 20B, local layer", gpt_oss<512, 2880, 64, 8, 64, 128>),
    ATTUNE_ENTRY("gpt-oss 20B, global layer", gpt_oss<512, 2880, 64, 8, 64, 0>));
inline constexpr auto variants = boost::hana::make_tuple(
    ATTUNE_ENTRY("causal, and nothing else", variant_causal<1024>),
    ATTUNE_ENTRY("a sliding window of 256", variant_window<1024, 256>),
    ATTUNE_ENTRY("the first 16 keys and a window", variant_first_and_window<1024, 16, 256>),
    ATTUNE_ENTRY("chunks of 256", variant_chunked<1024, 256>),
    ATTUNE_ENTRY("a prefix of 256 that all see", variant_prefix<1024, 256>),
    ATTUNE_ENTRY("documents by a table of ids", variant_documents<1024>),
    ATTUNE_ENTRY("a boolean table of pairs", variant_allowed<1024>),
    ATTUNE_ENTRY("ALiBi", variant_alibi<1024>),
    ATTUNE_ENTRY("ALiBi, a table of slopes", variant_slopes<1024>),
    ATTUNE_ENTRY("a bias of pairs", variant_bias<1024>),
    ATTUNE_ENTRY("softcap", variant_softcap<1024>));
#undef ATTUNE_ENTRY

}  // namespace zoo
