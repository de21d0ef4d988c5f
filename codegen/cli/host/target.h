// What this machine can run, and the compiler that builds for it.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

#include "lower.h"

namespace attune::host {

// Every ISA that the compiler knows, the most portable first.
std::vector<std::string> known_isas();
// Throws Error, naming those that exist, if `isa` is none of them.
void require_isa(const std::string& isa);
// Whether this CPU executes it.
bool runs(const std::string& isa);
// The last of known_isas() that this CPU executes.
std::string fastest_isa();
// The -m flags by which a compiler may use it in plain C++ code.
std::vector<std::string> machine_flags(const std::string& isa);

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
