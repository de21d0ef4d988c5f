// Norms by their formulas, in kernels: rows of any scale, whose squares f32 does not hold, and rows of zeros.
#include <catch2/catch.hpp>
#include <cmath>

#include "numerics/specs.h"

using namespace numerics;

TEST_CASE("Norms are right at any scale and of zeros", "[numerics]") {
  const std::vector<Spec> specs{spec("norm_rms", [] { return rms_norm(input<2, 3, 5, 37>("x"), "w", 1e-6); }),
                                spec("norm_l2", [] { return l2_norm(transpose(input<2, 3, 37, 5>("x")), 1e-12); })};
  for_each_subject(specs, [](const Subject& s) {
    const bool rms = !s.interface().weights.empty();
    Bindings b = host::standard_inputs(s.interface());
    Floats& x = b.find("x")->second;
    const auto place = [&](std::size_t row, std::size_t i) { return rms ? row * 37 + i : row / 5 * 185 + i * 5 + row % 5; };
    for (std::size_t row = 0; row < 30; ++row)
      for (std::size_t i = 0; i < 37; ++i) x[place(row, i)] = row == 4 ? 0 : std::ldexp(x[place(row, i)], 5 * (int(row) - 15));
    for (std::size_t i = 0; i < 37; ++i) x[place(7, i)] = std::ldexp(x[place(7, i)], 120);
    const Outputs got = s(b);
    check_close(s, got, interpret_outputs(s.graph(), b));
    for (std::size_t row = 0; row < 30; ++row) {
      double sum = 0, worst = 0;
      for (std::size_t i = 0; i < 37; ++i) sum += double(x[place(row, i)]) * double(x[place(row, i)]);
      const double by = rms ? 1 / std::sqrt(sum / 37 + 1e-6) : 1 / std::fmax(std::sqrt(sum), 1e-12);
      for (std::size_t i = 0; i < 37; ++i)
        worst = std::fmax(worst, std::abs(double(got[0][row * 37 + i]) - double(x[place(row, i)]) * by * (rms ? double(b["w"][i]) : 1)));
      CHECK(worst < 2e-6);
    }
  });
}
