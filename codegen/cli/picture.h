// A block map as an image.
#pragma once
#include <filesystem>

#include "passes/block_map.h"

namespace attune::cli {

// PNG, queries downwards and keys to the right: blue are blocks that are kept whole, orange those kept in part,
// grey what is not computed. Throws Error if there are no scores or the file can't be written.
void write_picture(const std::filesystem::path&, const BlockMap&);

}  // namespace attune::cli
