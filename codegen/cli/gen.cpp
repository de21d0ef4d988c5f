#include <fmt/format.h>

#include <filesystem>

#include "cli/commands.h"
#include "cli/host/process.h"

namespace attune::cli {

int gen(const Common& common, const std::string& folder, bool python, bool quiet) {
  Wanted wanted = common.wanted;
  const std::string name = common.name.empty() ? kernel_name(canonical(wanted.expression)) : common.name;
  wanted.compiling.depfile_target = (std::filesystem::path(folder) / (name + ".h")).string();
  const Spec spec = one_spec(wanted);
  GenerateOptions options = options_for(spec, common);
  options.python = python;
  const std::vector<SourceFile> files = generate(spec.graph, options);
  std::error_code error;
  const std::filesystem::path out = folder;
  if (std::filesystem::exists(out, error) && !std::filesystem::is_directory(out, error)) throw Error(fmt::format("cannot make the folder {}: a file has that name", folder));
  if (!std::filesystem::is_directory(out, error) && !std::filesystem::create_directory(out, error) && error) throw Error(fmt::format("cannot make the folder {}: {}", folder, error.message()));
  for (const SourceFile& f : files) {
    host::write_whole(out / f.name, f.text);
    if (!quiet) fmt::print("{}\n", (out / f.name).string());
  }
  return 0;
}

}  // namespace attune::cli
