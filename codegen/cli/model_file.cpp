#include "cli/model_file.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <bit>
#include <cmath>
#include <stdexcept>

#include "cli/npz.h"
#include "cli/safetensors.h"
#include "lower.h"

namespace attune::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "the formats are little-endian");

// IEEE 754 binary16: 1 sign, 5 exponent and 10 fraction bits.
float of_half(std::uint16_t h) {
  const int exponent = h >> 10 & 31, fraction = h & 1023;
  const float magnitude = exponent == 31  ? fraction ? std::bit_cast<float>(0x7fc00000u) : INFINITY
                          : exponent == 0 ? std::ldexp(float(fraction), -24)
                                          : std::ldexp(float(1024 + fraction), exponent - 25);
  return h >> 15 ? -magnitude : magnitude;
}
// The upper half of an f32.
float of_bfloat(std::uint16_t b) { return std::bit_cast<float>(std::uint32_t(b) << 16); }

// 0: not a type of weights.
std::uint64_t bytes_of(const std::string& type) { return type == "F32" ? 4 : type == "F16" || type == "BF16" ? 2 : 0; }

std::vector<float> row_major(const std::vector<float>& v, const std::vector<std::int64_t>& shape) {
  std::vector<float> r;
  r.reserve(v.size());
  std::vector<std::int64_t> index(shape.size());
  while (r.size() < v.size()) {
    std::int64_t at = 0;
    for (std::size_t d = shape.size(); d-- > 0;) at = at * shape[d] + index[d];
    r.push_back(v[std::size_t(at)]);
    for (std::size_t d = shape.size(); d-- > 0 && ++index[d] == shape[d];) index[d] = 0;
  }
  return r;
}

}  // namespace

void ModelFile::add(const std::string& name, Tensor t, std::uint64_t size) {
  std::uint64_t elements = 1;
  for (const std::int64_t d : t.shape)
    if (__builtin_mul_overflow(elements, std::uint64_t(d), &elements) || elements > size) elements = size + 1;  // more than there can be
  if (const std::uint64_t each = bytes_of(t.type); each && t.end - t.begin != each * elements)
    throw std::invalid_argument(fmt::format("{} [{}] of {} takes {} bytes", name, fmt::join(t.shape, ", "), t.type, t.end - t.begin));
  tensors_[name] = std::move(t);
}

std::vector<float> ModelFile::floats(const std::string& name) const {
  const Tensor& t = tensors_.at(name);
  const std::uint64_t each = bytes_of(t.type);
  if (!each) throw Error(fmt::format("{}: {} is of {}; weights are F32, F16 or BF16", path_, name, t.type));
  std::vector<float> values((t.end - t.begin) / each);
  if (each == 4) {
    read(name, t, reinterpret_cast<char*>(values.data()));
  } else {
    std::vector<std::uint16_t> halves(values.size());
    read(name, t, reinterpret_cast<char*>(halves.data()));
    for (std::size_t i = 0; i < halves.size(); ++i) values[i] = t.type == "F16" ? of_half(halves[i]) : of_bfloat(halves[i]);
  }
  return t.columns_first ? row_major(values, t.shape) : values;
}

std::unique_ptr<ModelFile> open_model_file(const std::string& path) {
  if (path.ends_with(".npz")) return std::make_unique<Npz>(path);
  return std::make_unique<Safetensors>(path);
}

}  // namespace attune::cli
