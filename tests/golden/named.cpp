// The arguments of a kernel by their names, through the generated NAME.hpp.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>
#include "named_block.hpp"

using namespace attune::literals;

namespace {
std::unique_ptr<void, decltype(&std::free)> aligned(std::size_t bytes) { return {std::aligned_alloc(64, (bytes + 127) / 64 * 64), &std::free}; }

std::vector<float> numbers(long count, unsigned seed) {
  std::vector<float> v(static_cast<std::size_t>(count));
  for (float& x : v) x = float((seed = seed * 1664525u + 1013904223u) >> 8) / float(1 << 24) - 0.5f;
  return v;
}
}  // namespace

TEST_CASE("arguments by their names are the arguments by their order", "[golden]") {
  const std::vector<float> x = numbers(named_block_x_FLOATS, 1), wq = numbers(named_block_wq_FLOATS, 2), wk = numbers(named_block_wk_FLOATS, 3), wv = numbers(named_block_wv_FLOATS, 4), wo = numbers(named_block_wo_FLOATS, 5);
  std::vector<float> by_order(named_block_out_FLOATS), by_name(named_block_out_FLOATS), checked(named_block_out_FLOATS);
  const std::size_t bytes = named_block_workspace_bytes(1);
  const auto workspace = aligned(bytes), packed = aligned(named_block_packed_bytes()), named = aligned(named_block_packed_bytes());

  const named_block_weights weights{wq.data(), wk.data(), wv.data(), wo.data()};
  const named_block_args args{x.data(), by_order.data()};
  named_block_pack_weights(&weights, packed.get());
  named_block(&args, packed.get(), workspace.get(), 1, nullptr, nullptr);

  attune::pack(named_block_pack_weights, named.get(), "wo"_a = wo.data(), "wv"_a = wv.data(), "wk"_a = wk.data(), "wq"_a = wq.data());
  attune::call(named_block, {named.get(), workspace.get()}, "out"_a = by_name.data(), "x"_a = x.data());
  const int code = attune::call(named_block_checked, {named.get(), workspace.get(), bytes}, "x"_a = x.data(), "out"_a = checked.data());

  CHECK(code == named_block_ok);
  CHECK(by_name == by_order);
  CHECK(checked == by_order);
  CHECK(by_order != std::vector<float>(by_order.size()));
}

TEST_CASE("a kernel's header tells its shapes", "[golden]") {
  constexpr long shape[] = {named_block_x_SHAPE};
  STATIC_REQUIRE(sizeof shape == 3 * sizeof(long));
  CHECK((shape[0] == 1 && shape[1] == 8 && shape[2] == 16));
  CHECK(named_block_x_FLOATS == 128);
  CHECK(named_block_BYTES == 4 * (2 * 128 + 4 * 256));
  // 4 projections of 8 x 16 by 16, and 4 operations per kept pair, head and feature.
  CHECK(named_block_FLOPS == 4 * 2 * 8 * 16 * 16 + 4 * 36 * 2 * 8);
}
