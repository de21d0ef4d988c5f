// Child processes and temporary folders.
#pragma once
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

namespace attune::host {

struct Finished {
  int status = 0;      // exit code; 128 + n if signal n ended it; 127 if it could not be started
  std::string output;  // what it wrote to stdout and stderr
};
// Runs argv[0], found on PATH, with no stdin. No shell is involved, so nothing needs quoting.
Finished run(const std::vector<std::string>& argv);

// A new folder under $TMPDIR, removed with all it holds at the end of the scope.
class TemporaryFolder {
 public:
  TemporaryFolder();
  ~TemporaryFolder();
  TemporaryFolder(const TemporaryFolder&) = delete;
  TemporaryFolder& operator=(const TemporaryFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

// Writes `text` beside `path` and renames it there, so that no reader sees half a file. Throws Error.
void write_whole(const std::filesystem::path& path, std::string_view text);

}  // namespace attune::host
