// The DSL's header, compiled once for many specs.
#pragma once
#include <filesystem>
#include <string>
#include <vector>

namespace attune::cli {

// A header for the host compiler's -include that stands for <attune.h>, precompiled with these flags, in
// `folder`, which is made if need be. Made again when the compiler, the flags or the DSL change; several
// processes may share the folder. Empty if it does not compile: the spec's own errors say why.
// Throws Error if the folder can't be written.
std::filesystem::path precompiled_dsl(const std::filesystem::path& folder, const std::vector<std::string>& flags);

}  // namespace attune::cli
