// A kernel built by attune_add_kernel, called as a user would.
#include <catch2/catch.hpp>
#include <cstdlib>
#include <memory>
#include <vector>

#include "cli_uniform.h"

extern "C" size_t workspace_bytes_seen_from_c(void);

TEST_CASE("a kernel of attune_add_kernel averages the past where all keys are zero", "[cli]") {
  constexpr int heads = 2, seq = 19, dim = 8;
  std::vector<float> q(heads * seq * dim, 3.0f), k(heads * seq * dim, 0.0f), v(heads * seq * dim), out(heads * seq * dim, -1.0f);
  for (std::size_t i = 0; i < v.size(); ++i) v[i] = float(i % 31) - 7;
  const auto aligned = [](size_t bytes) { return std::unique_ptr<void, decltype(&std::free)>(std::aligned_alloc(64, (bytes + 127) / 64 * 64), &std::free); };
  const size_t bytes = cli_uniform_workspace_bytes(1);
  const auto workspace = aligned(bytes);
  const cli_uniform_args args{q.data(), k.data(), v.data(), out.data()};

  REQUIRE(cli_uniform_checked(&args, nullptr, workspace.get(), bytes, 1, nullptr, nullptr) == cli_uniform_ok);

  for (int h = 0; h < heads; ++h)
    for (int d = 0; d < dim; ++d) {
      double sum = 0;
      for (int t = 0; t < seq; ++t) {
        const std::size_t i = std::size_t((h * seq + t) * dim + d);
        sum += double(v[i]);
        CHECK(double(out[i]) == Approx(sum / (t + 1)).margin(1e-5));
      }
    }
}

TEST_CASE("C and C++ see the same functions of a generated header", "[cli]") {
  CHECK(workspace_bytes_seen_from_c() == cli_uniform_workspace_bytes(1));
}
