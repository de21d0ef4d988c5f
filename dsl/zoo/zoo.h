// The named configurations: what `attune list` shows, what generated/ holds and `attune bench` runs.
#pragma once
#include <boost/hana/tuple.hpp>
#include <string_view>
#include <zoo/textbook.h>

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
#undef ATTUNE_ENTRY

}  // namespace zoo
