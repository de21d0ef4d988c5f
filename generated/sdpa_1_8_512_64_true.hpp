// sdpa_1_8_512_64_true: named arguments for C++, checked by the compiler. No kernel needs this
// file; it needs Attune's dsl/ folder and Boost.Hana. Made by
//   attune gen 'sdpa<1,8,512,64,true>' --isa portable,avx2,avx512
//
//   using namespace attune::literals;
//   attune::call(sdpa_1_8_512_64_true, {nullptr, workspace}, "q"_a = q, "k"_a = k, "v"_a = v,
//       "out"_a = out);
#pragma once
#include <attune/call.h>

#include "sdpa_1_8_512_64_true.h"

namespace attune {

template <>
inline constexpr auto fields<sdpa_1_8_512_64_true_args> = hana::make_map(
    "q"_a = &sdpa_1_8_512_64_true_args::q,
    "k"_a = &sdpa_1_8_512_64_true_args::k,
    "v"_a = &sdpa_1_8_512_64_true_args::v,
    "out"_a = &sdpa_1_8_512_64_true_args::out);

}  // namespace attune
