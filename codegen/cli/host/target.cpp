#include "cli/host/target.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cstdlib>
#include <sstream>

#include "cli/host/process.h"

namespace attune::host {

std::vector<std::string> known_isas() { return GenerateOptions{}.isas; }

void require_isa(const std::string& isa) {
  const std::vector<std::string> known = known_isas();
  if (std::find(known.begin(), known.end(), isa) == known.end())
    throw Error(fmt::format("there is no ISA '{}'; there are {}", isa, fmt::join(known, ", ")));
}

bool runs(const std::string& isa) {
  if (isa == "portable") return true;
#if defined(__x86_64__)
  if (isa == "avx2") return __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  if (isa == "avx512")
    return __builtin_cpu_supports("avx512f") && __builtin_cpu_supports("avx512dq") && __builtin_cpu_supports("avx512bw") && __builtin_cpu_supports("avx512vl");
#endif
  return false;
}

std::string fastest_isa() {
  std::string fastest = "portable";
  for (const std::string& isa : known_isas())
    if (runs(isa)) fastest = isa;
  return fastest;
}

std::vector<std::string> machine_flags(const std::string& isa) {
  if (isa == "avx2") return {"-mavx2", "-mfma"};
  if (isa == "avx512") return {"-mavx2", "-mfma", "-mavx512f", "-mavx512dq", "-mavx512bw", "-mavx512vl", "-mprefer-vector-width=512"};
  return {};
}

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
