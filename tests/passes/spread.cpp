// Learned tables in a program: read as they lie where an index is a sum of coordinates, else looked up once.
#include <attune.h>

#include <catch2/catch.hpp>

#include "graph/verify.h"
#include "passes/fuse.h"

using namespace attune;

namespace {

template <class E>
Program biased(E bias) {
  return fuse(graph_of([=] { return matmul(softmax(matmul(input<2, 3, 5, 4>("q"), transpose(input<2, 3, 7, 4>("k"))) + bias), input<2, 3, 7, 4>("v")); }));
}
// Floats of the buffer that the bias lies in.
long floats(const Program& p, Buffer::Kind kind) {
  long n = 0;
  for (const Buffer& b : p.buffers) n += b.kind == kind ? b.floats : 0;
  return n;
}

}  // namespace

TEST_CASE("a learned table is read as it lies, or looked up once for what it depends on") {
  constexpr auto table = learned<20, 3>("table");
  const Program plain = biased(table(kv_index - q_index + 4, head_index));
  CHECK(plain.regions.size() == 1);
  CHECK(floats(plain, Buffer::Kind::weight) == 20 * 3);
  const auto spread = [&](auto bias) {
    const Program p = biased(bias);
    CHECK(p.regions.size() == 2);
    CHECK(floats(p, Buffer::Kind::weight) == 0);
    return floats(p, Buffer::Kind::table);
  };
  CHECK(spread(table(bucket_to_both_sides<8, 16>, head_index)) == 3 * (5 + 7 - 1));  // distances -4 .. 6
  CHECK(spread(table(bucket_behind<8, 16>, 2)) == 5 + 7 - 1);
  CHECK(spread(table(kv_index % 2, 0)) == 7);
  CHECK(spread(table(q_index / 2 + kv_index % 3, head_index)) == 3 * 5 * 7);
  CHECK(spread(table(max(q_index - kv_index, 0) + batch_index, 0)) == 2 * (5 + 7 - 1));
}

TEST_CASE("a table of the call takes sums of coordinates only, and so does one that is read by it") {
  constexpr const char* complaint = "an index of a table is more than a sum of coordinates and their multiples";
  CHECK_THROWS_WITH(biased(table<float32, 20>("bias")(kv_index % 4)), Catch::Contains(complaint));
  CHECK_THROWS_WITH(biased(learned<20>("bias")(min(max(table<int32, 7>("where")(kv_index), 0), 19))), Catch::Contains(complaint));
}
