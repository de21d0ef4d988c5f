// Promise 9: the caller's floating-point state neither matters nor changes; subnormals are 0 and cost no time.
#include <catch2/catch.hpp>
#include <chrono>
#include <cmath>

#include "numerics/specs.h"

#if defined(__x86_64__)
#include <xmmintrin.h>

using namespace numerics;

namespace {

constexpr unsigned usual = 0x1F80, unmasked = 0x0000, upward = 0x5F80, upward_unmasked = 0x4000, toward_zero = 0x7F80, flushing = 0x9FC0, sticky = 0x1FBF;

Spec block() {
  return spec("float_state_block", [] {
    auto x = input<1, 18, 32>("x");
    auto q = rope(split_heads<2>(linear<32>(x, "wq", "bq")));
    auto k = rope(split_heads<2>(linear<32>(x, "wk")));
    auto v = split_heads<2>(linear<32>(x, "wv"));
    return linear<32>(merge_heads(matmul(softmax(mask(matmul(q, transpose(k)) / sqrt_of<16>, kv_index <= q_index)), v)), "wo");
  });
}

// Runs f under `state` and returns the state that it leaves.
template <class F>
unsigned under(unsigned state, F f) {
  _mm_setcsr(state);
  f();
  const unsigned after = _mm_getcsr();
  _mm_setcsr(usual);
  return after;
}

// Inputs that raise every exception: NaN, Inf, huge and subnormal numbers.
Bindings rough(const Subject& s) {
  Bindings b = host::standard_inputs(s.interface());
  Floats& x = b.begin()->second;
  const float odd[] = {__builtin_nansf(""), inf, 3e38f, -3e38f, 1e-40f, 0};
  for (std::size_t i = 0; i < x.size(); i += 7) x[i] = odd[i / 7 % 6];
  return b;
}

}  // namespace

TEST_CASE("The caller's floating-point state survives every call, bit for bit", "[numerics]") {
  for_each_subject({block(), masked_specs()[1].spec}, [](const Subject& s) {
    const Functions& f = s.functions();
    for (const bool standard : {true, false}) {
      Memory m = s.memory(standard ? host::standard_inputs(s.interface()) : rough(s));
      const auto& a = m.arguments.args;
      std::vector<const void*> aliased = a, lacking = a;
      aliased.back() = a.front();
      lacking.back() = nullptr;
      void* const off = reinterpret_cast<char*>(m.workspace.data()) - 4;
      for (unsigned state : {usual, unmasked, upward, upward_unmasked, toward_zero, flushing, sticky}) {
        INFO("MXCSR " << std::hex << state);
        int code = -1;
        const auto checked = [&](const std::vector<const void*>& args, void* workspace, std::size_t bytes) {
          return [&, workspace, bytes] { code = f.checked(args.data(), m.packed.data(), workspace, bytes, 1, nullptr, nullptr); };
        };
        CHECK(under(state, checked(a, m.workspace.data(), m.workspace_bytes)) == state);
        CHECK(code == ok);
        CHECK(under(state, checked(lacking, m.workspace.data(), m.workspace_bytes)) == state);
        CHECK(code == null);
        CHECK(under(state, checked(a, m.workspace.data(), m.workspace_bytes - 1)) == state);
        CHECK(code == workspace_small);
        CHECK(under(state, checked(a, off, m.workspace_bytes)) == state);
        CHECK(code == workspace_misaligned);
        CHECK(under(state, checked(aliased, m.workspace.data(), m.workspace_bytes)) == state);
        CHECK(code == alias);
        CHECK(under(state, [&] { f.plain(a.data(), m.packed.data(), m.workspace.data(), 1, nullptr, nullptr); }) == state);
      }
    }
  });
}

TEST_CASE("Results and packed weights don't depend on the caller's floating-point state", "[numerics]") {
  for_each_subject({block(), masked_specs()[1].spec}, [](const Subject& s) {
    const Functions& f = s.functions();
    const Bindings b = host::standard_inputs(s.interface());
    const Outputs expected = s(b);
    for (unsigned state : {unmasked, upward, upward_unmasked, toward_zero, flushing}) {
      INFO("MXCSR " << std::hex << state);
      Memory m = s.memory(b);
      host::Buffer packed(m.packed.size());
      if (f.pack_weights) CHECK(under(state, [&] { f.pack_weights(m.arguments.weight_pointers.data(), packed.data()); }) == state);
      under(state, [&] { f.plain(m.arguments.args.data(), packed.data(), m.workspace.data(), 1, nullptr, nullptr); });
      CHECK(same_bits(m.outputs(), expected));
    }
  });
}

TEST_CASE("Subnormal inputs and weights count as zero", "[numerics]") {
  for_each_subject({block(), masked_specs()[1].spec}, [](const Subject& s) {
    Bindings small = host::standard_inputs(s.interface()), zero = small;
    for (auto& [name, values] : small)
      for (std::size_t i = 0; i < values.size(); ++i) {
        if (i % 3 == 1) continue;
        values[i] = (i % 2 ? 1 : -1) * std::ldexp(1.0f + float(i % 5), -130);
        zero.find(name)->second[i] = std::copysign(0.0f, values[i]);
      }
    const Outputs got = s(small), expected = s(zero);
    for (std::size_t i = 0; i < got[0].size(); ++i) CHECK(got[0][i] == expected[0][i]);
    check_close(s, got, interpret_outputs(s.graph(), small));
    // All of them: nothing at all comes out.
    for (auto& [name, values] : small) std::fill(values.begin(), values.end(), 3e-39f);
    const Outputs nothing = s(small);
    for (float y : nothing[0]) CHECK(y == 0);
  });
}

TEST_CASE("Subnormal inputs and results cost no time", "[numerics]") {
  for_each_subject({masked_specs()[4].spec, block()}, [](const Subject& s) {
    const Bindings usual_inputs = host::standard_inputs(s.interface());
    Bindings subnormal = usual_inputs, products = usual_inputs;
    for (auto& [name, values] : subnormal)
      for (float& x : values) x *= 0x1p-128f;
    for (auto& [name, values] : products)
      for (float& x : values) x *= 0x1p-65f;  // whose products are subnormal
    const auto nanoseconds = [&](const Bindings& b) {
      Memory m = s.memory(b);
      double best = 1e30;
      for (int i = 0; i < 60; ++i) {
        const auto start = std::chrono::steady_clock::now();
        s.functions().plain(m.arguments.args.data(), m.packed.data(), m.workspace.data(), 1, nullptr, nullptr);
        best = std::min(best, std::chrono::duration<double, std::nano>(std::chrono::steady_clock::now() - start).count());
      }
      return best;
    };
    const double reference = nanoseconds(usual_inputs);
    CHECK(nanoseconds(subnormal) < 3 * reference);
    CHECK(nanoseconds(products) < 3 * reference);
  });
}
#endif
