// textbook_mha_1_512_512_8: named arguments for C++, checked by the compiler. No kernel needs this
// file; it needs Attune's dsl/ folder and Boost.Hana. Made by
//   attune gen 'textbook_mha<1,512,512,8>' --isa portable,avx2,avx512
//
//   using namespace attune::literals;
//   attune::pack(textbook_mha_1_512_512_8_pack_weights, packed, "wq"_a = wq, "wk"_a = wk,
//       "wv"_a = wv, "wo"_a = wo);
//   attune::call(textbook_mha_1_512_512_8, {packed, workspace}, "x"_a = x, "out"_a = out);
#pragma once
#include <attune/call.h>

#include "textbook_mha_1_512_512_8.h"

namespace attune {

template <>
inline constexpr auto fields<textbook_mha_1_512_512_8_args> = hana::make_map(
    "x"_a = &textbook_mha_1_512_512_8_args::x,
    "out"_a = &textbook_mha_1_512_512_8_args::out);

template <>
inline constexpr auto fields<textbook_mha_1_512_512_8_weights> = hana::make_map(
    "wq"_a = &textbook_mha_1_512_512_8_weights::wq,
    "wk"_a = &textbook_mha_1_512_512_8_weights::wk,
    "wv"_a = &textbook_mha_1_512_512_8_weights::wv,
    "wo"_a = &textbook_mha_1_512_512_8_weights::wo);

}  // namespace attune
