// Layers of the zoo that take turns: one that sees all tokens is one whose window or chunk is as long as the
// sequence, and a shorter one keeps fewer pairs.
#include <zoo/zoo.h>

#include <catch2/catch.hpp>

#include "lower.h"

using namespace attune;

TEST_CASE("global layers keep every pair that is causal, their neighbours fewer", "[variants]") {
  constexpr auto flops = [](auto spec) { return flops_of(graph_of(spec)); };
  CHECK(flops(zoo::gemma2<37, 24, 4, 2, 16, 0>) == flops(zoo::gemma2<37, 24, 4, 2, 16, 37>));
  CHECK(flops(zoo::gemma2<37, 24, 4, 2, 16, 0>) > flops(zoo::gemma2<37, 24, 4, 2, 16, 9>));
  CHECK(flops(zoo::gemma3<37, 24, 4, 1, 16, 0>) == flops(zoo::gemma3<37, 24, 4, 1, 16, 37>));
  CHECK(flops(zoo::gemma3<37, 24, 4, 1, 16, 0>) > flops(zoo::gemma3<37, 24, 4, 1, 16, 9>));
  CHECK(flops(zoo::gpt_oss<37, 24, 4, 2, 32, 0>) == flops(zoo::gpt_oss<37, 24, 4, 2, 32, 37>));
  CHECK(flops(zoo::gpt_oss<37, 24, 4, 2, 32, 0>) > flops(zoo::gpt_oss<37, 24, 4, 2, 32, 9>));
  CHECK(flops(zoo::llama4<37, 24, 4, 2, 16, 0>) == flops(zoo::llama4<37, 24, 4, 2, 16, 37>));
  CHECK(flops(zoo::llama4<37, 24, 4, 2, 16, 0>) > flops(zoo::llama4<37, 24, 4, 2, 16, 8>));
  CHECK(flops(zoo::modernbert<139, 24, 3, false>) > flops(zoo::modernbert<139, 24, 3, true>));
}
