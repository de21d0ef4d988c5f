// All variants, each at a length that PyTorch's values are stored for and at one of several blocks.
#pragma once
#include "numerics/specs.h"
#include "variants/rotary.h"
#include "variants/specs.h"

namespace variants {

inline constexpr long short_length = 18, long_length = 139;

struct Variant {
  numerics::Spec small, large;
  numerics::Keep keep = {};    // of masks: whether a pair counts, said without the language
  long q_len = 0, kv_len = 0;  // of the large one
};
std::vector<Variant> masks();
std::vector<Variant> others();

// Every family of the zoo, at small sizes.
std::vector<numerics::Spec> zoo_families();

}  // namespace variants
