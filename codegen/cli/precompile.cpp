#include "cli/precompile.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <sys/file.h>
#include <unistd.h>

#include <cerrno>
#include <cstring>
#include <fstream>
#include <iterator>
#include <set>

#include "cli/host/compiler.h"
#include "cli/host/process.h"
#include "cli/places.h"
#include "cli/wisdom.h"
#include "lower.h"

namespace attune::cli {

namespace fs = std::filesystem;

namespace {

// Held to the end of the scope; other processes wait.
class Lock {
 public:
  explicit Lock(const fs::path& path) : file_(open(path.c_str(), O_CREAT | O_RDWR | O_CLOEXEC, 0666)) {
    if (file_ < 0 || flock(file_, LOCK_EX) != 0) throw Error(fmt::format("cannot write {}: {}", path.string(), std::strerror(errno)));
  }
  ~Lock() { close(file_); }
  Lock(const Lock&) = delete;
  Lock& operator=(const Lock&) = delete;

 private:
  int file_;
};

// What the result depends on: GCC takes a precompiled header without asking whether its sources changed.
std::string state_of_dsl(const std::vector<std::string>& flags) {
  std::string state = fmt::format("// {} {}\n", compiler_id(), fmt::join(flags, " "));
  const fs::path folder = places().includes.front();
  std::set<fs::path> headers{folder / "attune.h"};
  for (const auto& entry : fs::directory_iterator(folder / "attune")) headers.insert(entry.path());
  for (const fs::path& h : headers)
    if (fs::is_regular_file(h)) state += fmt::format("// {} {} {}\n", h.string(), fs::file_size(h), fs::last_write_time(h).time_since_epoch().count());
  return state;
}

}  // namespace

fs::path precompiled_dsl(const fs::path& folder, const std::vector<std::string>& flags) {
  std::error_code error;
  fs::create_directories(folder, error);
  if (error) throw Error(fmt::format("cannot make the folder {}: {}", folder.string(), error.message()));
  const Lock lock(folder / "lock");
  const fs::path header = folder / "dsl.h", compiled = folder / "dsl.h.gch";
  const std::string text = state_of_dsl(flags) + "#include <attune.h>\n";
  std::ifstream before(header, std::ios::binary);
  if (fs::exists(compiled) && text == std::string(std::istreambuf_iterator<char>(before), {})) return header;
  fs::remove(compiled, error);
  host::write_whole(header, text);
  std::vector<std::string> all = flags;
  all.insert(all.end(), {"-x", "c++-header"});
  const fs::path unfinished = folder / "unfinished.gch";
  if (!host::build_shared({header}, unfinished, all).ok) return {};
  fs::rename(unfinished, compiled);
  return header;
}

}  // namespace attune::cli
