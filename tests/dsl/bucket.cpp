// Buckets of distances against the formula as transformers' modeling_t5.py computes it, in float32.
#include <attune.h>

#include <catch2/catch.hpp>
#include <cmath>

#include "graph/interpret.h"

using namespace attune;

namespace {

// _relative_position_bucket of key - query.
long published(long relative, bool both_sides, long buckets, long farthest) {
  long bucket = 0, n = std::max(-relative, 0l);
  if (both_sides) {
    buckets /= 2;
    if (relative > 0) bucket = buckets;
    n = std::abs(relative);
  }
  const long exact = buckets / 2;
  if (n < exact) return bucket + n;
  const float share = std::log(float(n) / float(exact)) / float(std::log(double(farthest) / double(exact)));
  return bucket + std::min(exact + long(share * float(buckets - exact)), buckets - 1);
}

template <class E>
long wrong(E bucket, bool both_sides, long buckets, long farthest) {
  const Graph g = graph_of([=] { return matmul(input<1, 1, 300, 1>("zeros"), transpose(input<1, 1, 300, 1>("zeros"))) + bucket; });
  const std::vector<double> found = interpret_outputs(g, {{"zeros", std::vector<float>(300)}}).at(0).v;
  long count = 0;
  for (long q = 0; q < 300; ++q)
    for (long kv = 0; kv < 300; ++kv) count += found.at(std::size_t(300 * q + kv)) != double(published(kv - q, both_sides, buckets, farthest));
  return count;
}

}  // namespace

TEST_CASE("buckets of distances are those of T5") {
  CHECK(wrong(bucket_to_both_sides<32, 128>, true, 32, 128) == 0);
  CHECK(wrong(bucket_behind<32, 128>, false, 32, 128) == 0);
  CHECK(wrong(bucket_to_both_sides<8, 16>, true, 8, 16) == 0);
  CHECK(wrong(bucket_behind<12, 50>, false, 12, 50) == 0);
}
