// The compiler of this machine, for kernels and specs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "lower.h"

namespace attune::host {

// $CXX, split at blanks, else c++.
std::vector<std::string> compiler();

struct NoCompiler : Error {
  using Error::Error;
};
struct Built {
  bool ok = false;
  std::string output;  // of the compiler
  std::string first_error() const;
};
// Compiles `sources` to the shared library `library` with the host compiler and `flags`.
// Throws NoCompiler if there is none.
Built build_shared(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& library, const std::vector<std::string>& flags);

}  // namespace attune::host
