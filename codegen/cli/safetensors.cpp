#include "cli/safetensors.h"

#include <fmt/format.h>

#include <bit>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lower.h"

namespace attune::cli {

namespace {

static_assert(std::endian::native == std::endian::little, "the format is little-endian");

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

std::uint64_t number(const nlohmann::json& j) {
  if (!j.is_number_unsigned()) throw std::invalid_argument("a size that is no whole number from 0 on");
  return j.get<std::uint64_t>();
}

}  // namespace

Safetensors::Safetensors(std::string path) : path_(std::move(path)) {
  const auto wrong = [&](const std::string& why) { return Error(fmt::format("{} is no safetensors file: {}", path_, why)); };
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path_, error);
  std::ifstream file(path_, std::ios::binary);
  if (error || !file) throw Error(fmt::format("cannot read {}: {}", path_, error ? error.message() : std::strerror(errno)));
  std::uint64_t length = 0;
  if (size < 8 || !file.read(reinterpret_cast<char*>(&length), 8) || length > size - 8)
    throw wrong(fmt::format("it has {} bytes, and its header would need {}: is it whole?", size, size < 8 ? "8" : fmt::format("{} behind the first 8", length)));
  std::string text(length, '\0');
  if (!file.read(text.data(), std::streamsize(length))) throw wrong("its header can't be read");
  try {
    const auto header = nlohmann::json::parse(text);
    for (const auto& [name, j] : header.items()) {
      if (name == "__metadata__") continue;
      Tensor t{j.at("dtype").get<std::string>(), {}, 0, 0};
      std::uint64_t elements = 1;
      for (const auto& d : j.at("shape")) {
        t.shape.push_back(std::int64_t(number(d)));
        if (__builtin_mul_overflow(elements, number(d), &elements) || elements > size) elements = size + 1;  // more than there can be
      }
      const std::uint64_t begin = number(j.at("data_offsets").at(0)), end = number(j.at("data_offsets").at(1)), data = size - 8 - length;
      if (begin > end) throw wrong(fmt::format("{} ends before it begins", name));
      if (end > data) throw wrong(fmt::format("{} ends at byte {} of its data, of which there are {}: is it whole?", name, end, data));
      if (const std::uint64_t each = bytes_of(t.type); each && end - begin != each * elements)
        throw wrong(fmt::format("{} [{}] of {} takes {} bytes", name, fmt::join(t.shape, ", "), t.type, end - begin));
      t.begin = 8 + length + begin;
      t.end = 8 + length + end;
      tensors_[name] = std::move(t);
    }
  } catch (const std::invalid_argument& e) {
    throw wrong(e.what());
  } catch (const nlohmann::json::exception& e) {
    throw wrong(fmt::format("its header can't be read ({})", e.what()));
  }
}

std::vector<float> Safetensors::floats(const std::string& name) const {
  const Tensor& t = tensors_.at(name);
  const std::uint64_t each = bytes_of(t.type);
  if (!each) throw Error(fmt::format("{}: {} is of {}; weights are F32, F16 or BF16", path_, name, t.type));
  std::ifstream file(path_, std::ios::binary);
  file.seekg(std::streamoff(t.begin));
  std::vector<float> values((t.end - t.begin) / each);
  const auto read = [&](void* to) {
    if (!file.read(static_cast<char*>(to), std::streamsize(t.end - t.begin))) throw Error(fmt::format("cannot read {}", path_));
  };
  if (each == 4) {
    read(values.data());
    return values;
  }
  std::vector<std::uint16_t> halves(values.size());
  read(halves.data());
  for (std::size_t i = 0; i < halves.size(); ++i) values[i] = t.type == "F16" ? of_half(halves[i]) : of_bfloat(halves[i]);
  return values;
}

std::string safetensors(const std::vector<Named>& tensors) {
  nlohmann::ordered_json header;
  std::size_t at = 0;
  for (const Named& t : tensors) {
    const std::size_t end = at + t.values.size() * sizeof(float);
    header[t.name] = {{"dtype", "F32"}, {"shape", std::vector<long>(t.dims.d.begin(), t.dims.d.begin() + t.dims.rank)}, {"data_offsets", {at, end}}};
    at = end;
  }
  std::string text = header.dump();
  text.resize((text.size() + 8 + 63) / 64 * 64 - 8, ' ');
  const std::uint64_t length = text.size();
  std::string file(reinterpret_cast<const char*>(&length), 8);
  file.reserve(8 + length + at);
  file += text;
  for (const Named& t : tensors) file.append(reinterpret_cast<const char*>(t.values.data()), t.values.size() * sizeof(float));
  return file;
}

}  // namespace attune::cli
