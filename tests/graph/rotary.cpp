// The frequencies of each scaling against its published formula, written as its authors' code has it:
// pair by pair, with powers and branches where the language has logarithms and clamps.
#include "graph/rotary.h"

#include <attune.h>

#include <catch2/catch.hpp>
#include <cmath>
#include <functional>

#include "cli/host/inputs.h"

using namespace attune;

namespace {

constexpr double pi = 3.14159265358979323846;

double plain(double base, long pair, long dims) { return std::pow(base, -2.0 * double(pair) / double(dims)); }

// transformers, modeling_rope_utils.py, _compute_llama3_parameters
double llama3(double theta, double factor, double low, double high, double length) {
  const double wavelength = 2 * pi / theta;
  if (wavelength < length / high) return theta;
  if (wavelength > length / low) return theta / factor;
  const double smooth = (length / wavelength - low) / (high - low);
  return (1 - smooth) * theta / factor + smooth * theta;
}

// github.com/jquesnelle/yarn, scaled_rope/LlamaYaRNScaledRotaryEmbedding.py; transformers' truncate
double yarn(double base, long pair, long dims, double factor, double length, double fast, double slow, bool truncate) {
  const auto correction = [&](double rotations) { return double(dims) * std::log(length / (rotations * 2 * pi)) / (2 * std::log(base)); };
  double low = correction(fast), high = correction(slow);
  if (truncate) low = std::floor(low), high = std::ceil(high);
  low = std::max(low, 0.0);
  high = std::min(high, double(dims - 1));
  if (low == high) high += 0.001;
  const double mask = 1 - std::min(std::max((double(pair) - low) / (high - low), 0.0), 1.0);
  const double theta = plain(base, pair, dims);
  return theta / factor * (1 - mask) + theta * mask;
}

const Node& root(const Graph& g) { return g[g.outputs[0].node]; }

template <class S>
void check_scaling(const S& by, double base, long dims, double amplitude, const std::function<double(long)>& formula) {
  const Graph g = graph_of([&] { return rope(input<1, 1, 3, 128>("x"), {.base = base, .dims = dims}, by); });
  const std::vector<double> got = frequencies_of(g, g.outputs[0].node);
  REQUIRE(long(got.size()) == dims / 2);
  for (long i = 0; i < dims / 2; ++i) {
    INFO("pair " << i << " of " << dims / 2 << ", base " << base);
    const double wanted = formula(i);
    CHECK(std::abs(got[std::size_t(i)] - wanted) <= 2e-14 * wanted);
  }
  CHECK(root(g).attr.rotation.amplitude == Approx(amplitude).epsilon(1e-14));
}

}  // namespace

TEST_CASE("Frequencies of each scaling are those of its formula") {
  for (const double base : {500.0, 10000.0, 500000.0, 1e6})
    for (const long dims : {2l, 6l, 64l, 128l}) {
      const auto theta = [=](long i) { return plain(base, i, dims); };
      check_scaling(unscaled{}, base, dims, 1, theta);
      check_scaling(linear_scaling{.factor = 8}, base, dims, 1, [=](long i) { return theta(i) / 8; });
      const auto ntk = [=](double factor) { return [=](long i) { return dims == 2 ? 1 : plain(base * std::pow(factor, double(dims) / double(dims - 2)), i, dims); }; };
      check_scaling(ntk_scaling{.factor = 4}, base, dims, 1, ntk(4));
      check_scaling(dynamic_ntk_scaling{.factor = 2, .length = 2048, .at = 7000}, base, dims, 1, ntk(2.0 * 7000 / 2048 - 1));
      check_scaling(dynamic_ntk_scaling{.factor = 2, .length = 2048, .at = 2048}, base, dims, 1, theta);
      check_scaling(llama3_scaling{}, base, dims, 1, [=](long i) { return llama3(theta(i), 8, 1, 4, 8192); });
      check_scaling(llama3_scaling{.factor = 32}, base, dims, 1, [=](long i) { return llama3(theta(i), 32, 1, 4, 8192); });
      check_scaling(yarn_scaling{.factor = 4, .length = 32768}, base, dims, 0.1 * std::log(4.0) + 1, [=](long i) { return yarn(base, i, dims, 4, 32768, 32, 1, true); });
      check_scaling(yarn_scaling{.factor = 32, .length = 4096, .truncate = false}, base, dims, 0.1 * std::log(32.0) + 1, [=](long i) { return yarn(base, i, dims, 32, 4096, 32, 1, false); });
      check_scaling(yarn_scaling{.factor = 40, .length = 4096, .fast = 16, .slow = 2, .attention_factor = 1.5}, base, dims, 1.5, [=](long i) { return yarn(base, i, dims, 40, 4096, 16, 2, true); });
      check_scaling(longrope_scaling{.divisors = "long_factor", .factor = 32, .length = 4096}, base, dims, std::sqrt(1 + std::log(32.0) / std::log(4096.0)), theta);
    }
}

TEST_CASE("Logarithms and roots of constants are those of the math library") {
  for (double x = 1e-9; x < 1e12; x *= 1.7) {
    CHECK(std::abs(natural_log(x) - std::log(x)) <= 1e-15 * (1 + std::abs(std::log(x))));
    CHECK(std::abs(square_root(x) - std::sqrt(x)) <= 3e-16 * std::sqrt(x));
  }
  static_assert(natural_log(1) == 0 && natural_log(0) == 0 && natural_log(-1) == 0 && square_root(4) == 2 && inverse_of(0) == 0);
}

TEST_CASE("LongRoPE divides each frequency, positions come from tables by batch and section, amplitudes multiply") {
  constexpr long batch = 2, heads = 2, seq = 3, dim = 8;
  static constexpr auto positions = table<int32, 2, batch, seq>("positions");
  const Graph g = graph_of([] {
    return rope(input<batch, heads, seq, dim>("x"), {.base = 100, .pairs = half_split, .offset = 5}, longrope_scaling{.divisors = "factors", .factor = 1, .length = 64, .attention_factor = 1.25},
                positions(section_of<1, 3>, batch_index, seq_index));
  });
  Bindings b = host::standard_inputs(interface_of(g), 3);
  b["positions"] = {0, 7, -3, 100000, 2, 9, 40, -1, 8, 3, 3, 65536};
  b["factors"] = {1, 2.5f, 4, 0.125f};
  const Array got = interpret_outputs(g, b).front();
  const std::vector<float>& x = b["x"];
  for (long i = 0; i < long(x.size()); ++i) {
    const long pair = i % dim % 4, row = i / dim, t = row % seq, n = row / seq / heads, section = pair < 1 ? 0 : 1;
    const double angle = (double(b["positions"][std::size_t((section * batch + n) * seq + t)]) + 5) * std::pow(100.0, -double(pair) / 4) / double(b["factors"][std::size_t(pair)]);
    const double other = x[std::size_t(i % dim < 4 ? i + 4 : i - 4)];
    const double wanted = 1.25 * (double(x[std::size_t(i)]) * std::cos(angle) + (i % dim < 4 ? -other : other) * std::sin(angle));
    CHECK(std::abs(got.v[std::size_t(i)] - wanted) < 1e-9);
  }
}
