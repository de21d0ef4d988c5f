// The language of Attune: everything that a spec needs.
//
//   #include <attune.h>
//   using namespace attune;
//   constexpr auto my_attention = [] { auto q = input<1, 8, 512, 64>("q"); ... return y; };
#pragma once
#include "attune/bucket.h"
#include "attune/merge.h"
#include "attune/spec.h"
