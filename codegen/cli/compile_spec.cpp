// Specs that are not in the zoo: compiled by the host compiler to a shared library that gives the graph.
#include <dlfcn.h>
#include <fmt/format.h>

#include <filesystem>
#include <sstream>

#include "cli/host/compiler.h"
#include "cli/host/process.h"
#include "cli/host/terminal.h"
#include "cli/places.h"
#include "cli/precompile.h"
#include "cli/specs.h"

namespace attune::cli {

namespace {
// The first error, with the line of the user's header that led to it if the compiler names one.
std::string shorten(const host::Built& built, const std::string& header) {
  const std::string error = built.first_error();
  if (header.empty() || error.find(header) != std::string::npos) return error;
  std::istringstream lines(built.output);
  std::string before, after;
  bool past = false;
  for (std::string line; std::getline(lines, line);) {
    if (line == error)
      past = true;
    else if (line.rfind(header + ":", 0) == 0) {
      if (!past)
        before = line;
      else if (after.empty())
        after = line;
    }
  }
  // GCC names the user's line before the error, Clang in a note after it.
  const std::string& user = before.empty() ? after : before;
  return user.empty() ? error : error + "\n" + user;
}
}  // namespace

Graph compile_spec(const std::string& header, const std::string& expression, const Compiling& how) {
  std::string path;
  if (!header.empty()) {
    if (!is_file(header)) throw Error(fmt::format("there is no file {}", header));
    path = std::filesystem::absolute(header).string();
  }
  // Not optimised: the graph is small and it is made once.
  std::vector<std::string> flags{"-std=c++20", "-O0"};
  for (const std::filesystem::path& folder : places().includes) flags.push_back("-I" + folder.string());
  flags.insert(flags.end(), {"-idirafter", ATTUNE_HANA_DIR});
  host::progress(fmt::format("compiling {}", expression));
  const std::filesystem::path dsl = how.precompiled.empty() ? "" : precompiled_dsl(how.precompiled, flags);

  flags.insert(flags.end(), {fmt::format("-DATTUNE_SPEC_HEADER=\"{}\"", path.empty() ? "zoo/zoo.h" : path), fmt::format("-DATTUNE_SPEC_EXPR={}", expression)});
  if (!how.depfile.empty()) flags.insert(flags.end(), {"-MMD", "-MF", how.depfile, "-MQ", how.depfile_target});
  std::vector<std::string> faster = flags;
  faster.insert(faster.end(), {"-include", dsl.string()});
  const host::TemporaryFolder folder;
  const std::filesystem::path library = folder.path() / "spec.so";
  host::Built built;
  if (!dsl.empty()) built = host::build_shared({places().driver}, library, faster);
  if (!built.ok) built = host::build_shared({places().driver}, library, flags);
  host::progress("");
  if (!built.ok) throw Error(fmt::format("'{}' does not compile{}:\n{}", expression, how.verbose ? "" : " (all that the compiler says: --verbose)", how.verbose ? built.output : shorten(built, path)));
  void* loaded = dlopen(library.c_str(), RTLD_NOW | RTLD_LOCAL);  // for good: the graph's names lie in it
  if (!loaded) throw Error(fmt::format("'{}' does not load: {}", expression, dlerror()));
  const auto graph_of_spec = reinterpret_cast<void (*)(Graph&)>(dlsym(loaded, "attune_spec_graph"));
  const auto language_of_spec = static_cast<const unsigned*>(dlsym(loaded, "attune_spec_language"));
  if (!graph_of_spec || !language_of_spec) throw Error(fmt::format("'{}' gave no graph", expression));
  if (*language_of_spec != language) throw Error(fmt::format("{} holds another version of the language than this attune was built with; build attune from there", places().includes.front().string()));
  Graph graph;
  graph_of_spec(graph);
  return graph;
}

}  // namespace attune::cli
