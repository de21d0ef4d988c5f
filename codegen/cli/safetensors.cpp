#include "cli/safetensors.h"

#include <fmt/format.h>

#include <cstring>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>

#include "lower.h"

namespace attune::cli {

namespace {

std::uint64_t number(const nlohmann::json& j) {
  if (!j.is_number_unsigned()) throw std::invalid_argument("a size that is no whole number from 0 on");
  return j.get<std::uint64_t>();
}

}  // namespace

Safetensors::Safetensors(const std::string& path) : ModelFile(path) {
  const auto wrong = [&](const std::string& why) { return Error(fmt::format("{} is no safetensors file: {}", path, why)); };
  std::error_code error;
  const std::uint64_t size = std::filesystem::file_size(path, error);
  std::ifstream file(path, std::ios::binary);
  if (error || !file) throw Error(fmt::format("cannot read {}: {}", path, error ? error.message() : std::strerror(errno)));
  std::uint64_t length = 0;
  if (size < 8 || !file.read(reinterpret_cast<char*>(&length), 8) || length > size - 8)
    throw wrong(fmt::format("it has {} bytes, and its header would need {}: is it whole?", size, size < 8 ? "8" : fmt::format("{} behind the first 8", length)));
  std::string text(length, '\0');
  if (!file.read(text.data(), std::streamsize(length))) throw wrong("its header can't be read");
  try {
    const auto header = nlohmann::json::parse(text);
    for (const auto& [name, j] : header.items()) {
      if (name == "__metadata__") continue;
      Tensor t{j.at("dtype").get<std::string>(), {}, 0, 0, false};
      for (const auto& d : j.at("shape")) t.shape.push_back(std::int64_t(number(d)));
      const std::uint64_t begin = number(j.at("data_offsets").at(0)), end = number(j.at("data_offsets").at(1)), data = size - 8 - length;
      if (begin > end) throw wrong(fmt::format("{} ends before it begins", name));
      if (end > data) throw wrong(fmt::format("{} ends at byte {} of its data, of which there are {}: is it whole?", name, end, data));
      t.begin = 8 + length + begin;
      t.end = 8 + length + end;
      add(name, std::move(t), size);
    }
  } catch (const std::invalid_argument& e) {
    throw wrong(e.what());
  } catch (const nlohmann::json::exception& e) {
    throw wrong(fmt::format("its header can't be read ({})", e.what()));
  }
}

void Safetensors::read(const std::string&, const Tensor& t, char* to) const {
  std::ifstream file(path(), std::ios::binary);
  file.seekg(std::streamoff(t.begin));
  if (!file.read(to, std::streamsize(t.end - t.begin))) throw Error(fmt::format("cannot read {}", path()));
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
