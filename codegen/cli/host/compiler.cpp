#include "cli/host/compiler.h"

#include <fmt/format.h>

#include <cstdlib>
#include <sstream>

#include "cli/host/process.h"

namespace attune::host {

std::vector<std::string> compiler() {
  const char* chosen = std::getenv("CXX");
  std::istringstream words(chosen && *chosen ? chosen : "c++");
  std::vector<std::string> argv;
  for (std::string w; words >> w;) argv.push_back(w);
  if (argv.empty()) argv.push_back("c++");
  return argv;
}

std::string Built::first_error() const {
  std::istringstream lines(output);
  for (std::string line; std::getline(lines, line);)
    if (line.find("error:") != std::string::npos || line.find("error ") != std::string::npos) return line;
  return output.substr(0, output.find('\n'));
}

Built build_shared(const std::vector<std::filesystem::path>& sources, const std::filesystem::path& library, const std::vector<std::string>& flags) {
  std::vector<std::string> argv = compiler();
  const std::string program = argv[0];
  argv.insert(argv.end(), flags.begin(), flags.end());
  for (const char* f : {"-shared", "-fPIC", "-o"}) argv.push_back(f);
  argv.push_back(library.string());
  for (const std::filesystem::path& s : sources) argv.push_back(s.string());
  const Finished f = run(argv);
  if (f.status == 127) throw NoCompiler(fmt::format("no host compiler: cannot run '{}' ({}); install one, or say which in $CXX", program, f.output.substr(0, f.output.find('\n'))));
  return {f.status == 0, f.output};
}

}  // namespace attune::host
