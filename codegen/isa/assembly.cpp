// A tile's step in AVX2's machine code: which register holds what is decided here and not by a compiler, of
// which some move sums to the stack where a tile fills all sixteen.
#include <fmt/format.h>

#include <algorithm>

#include "isa/tables.h"

namespace attune {
namespace {

constexpr int registers = 16, lanes = 8, float_bytes = 4;

// bytes * k + offset(%[pointer])
std::string place(const char* pointer, long step, long offset) {
  return fmt::format("{}*%c[k]{}(%[{}])", float_bytes * step, offset ? fmt::format("+{}", float_bytes * offset) : "", pointer);
}

}  // namespace

std::string assemble_avx2(const TileStep& s) {
  std::string code, sums, clobbered;
  const auto instruction = [&](const std::string& i) { code += fmt::format("      \"{}\\n\\t\"\n", i); };
  // From the last register down: first the smaller set, held during a step, then what the other passes through.
  const bool holds_vectors = s.vectors <= s.rows;
  const int held = std::min(s.rows, s.vectors), passing = std::min(std::max(s.rows, s.vectors), registers - s.rows * s.vectors - held);
  const auto reg = [&](bool is_held, int i) { return fmt::format("ymm{}", registers - 1 - (is_held ? i : held + i % passing)); };
  const auto sum = [&](int i, int v) { return s.sums[std::size_t(i * s.vectors + v)]; };
  const auto load = [&](int v) { instruction(fmt::format("vmovups {}, %%{}", place("vectors", s.vector_step, long(v) * lanes), reg(holds_vectors, v))); };
  const auto broadcast = [&](int i) { instruction(fmt::format("vbroadcastss {}, %%{}", place("scalars", s.scalar_step, s.scalar_row * i), reg(!holds_vectors, i))); };
  const auto multiply_add = [&](int i, int v) { instruction(fmt::format("vfmadd231ps %%{}, %%{}, %[{}]", reg(holds_vectors, v), reg(!holds_vectors, i), sum(i, v))); };
  if (holds_vectors) {
    for (int v = 0; v < s.vectors; ++v) load(v);
    for (int i = 0; i < s.rows; ++i) {
      broadcast(i);
      for (int v = 0; v < s.vectors; ++v) multiply_add(i, v);
    }
  } else {
    for (int i = 0; i < s.rows; ++i) broadcast(i);
    for (int v = 0; v < s.vectors; ++v) {
      load(v);
      for (int i = 0; i < s.rows; ++i) multiply_add(i, v);
    }
  }
  for (int i = 0; i < s.rows; ++i)
    for (int v = 0; v < s.vectors; ++v) sums += fmt::format("{0}[{1}] \"+x\"({1})", v % 5 ? ", " : i + v ? ",\n      " : "      : ", sum(i, v));
  for (int r = registers - held - passing; r < registers; ++r) clobbered += fmt::format(", \"xmm{}\"", r);
  return fmt::format("  asm volatile(\n{}{}\n      : [scalars] \"r\"(scalars), [vectors] \"r\"(vectors), [k] \"i\"(k)\n      : \"memory\"{});\n", code, sums, clobbered);
}

}  // namespace attune
