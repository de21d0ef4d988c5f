#include "cli/picture.h"

#include <fmt/format.h>
#include <png.h>

#include <algorithm>
#include <array>
#include <string>

#include "cli/host/process.h"
#include "lower.h"

namespace attune::cli {

void write_picture(const std::filesystem::path& path, const BlockMap& map) {
  constexpr long least_side = 512;  // pixels
  const std::vector<std::vector<Kept>> blocks = blocks_of(map);
  if (blocks.empty() || blocks[0].empty()) throw Error("there are no scores to draw");
  const long down = long(blocks.size()), across = long(blocks[0].size()), scale = std::max(1L, least_side / std::max(down, across));
  const auto colour = [](Kept k) -> std::array<unsigned char, 3> {
    if (k == Kept::all) return {31, 87, 153};
    if (k == Kept::mixed) return {236, 146, 52};
    return {235, 235, 235};
  };
  std::vector<unsigned char> pixels;
  for (long y = 0; y < down * scale; ++y)
    for (long x = 0; x < across * scale; ++x)
      for (unsigned char c : colour(blocks[std::size_t(y / scale)][std::size_t(x / scale)])) pixels.push_back(c);

  png_image image{};
  image.version = PNG_IMAGE_VERSION;
  image.width = png_uint_32(across * scale);
  image.height = png_uint_32(down * scale);
  image.format = PNG_FORMAT_RGB;
  png_alloc_size_t bytes = 0;
  std::string encoded;
  bool ok = png_image_write_to_memory(&image, nullptr, &bytes, 0, pixels.data(), 0, nullptr);
  if (ok) {
    encoded.resize(bytes);
    ok = png_image_write_to_memory(&image, encoded.data(), &bytes, 0, pixels.data(), 0, nullptr);
  }
  if (!ok) throw Error(fmt::format("no PNG could be made: {}", image.message));
  host::write_whole(path, encoded);
}

}  // namespace attune::cli
