#include "cli/host/process.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <fstream>

#include "lower.h"

extern char** environ;

namespace attune::host {

Finished run(const std::vector<std::string>& argv) {
  int ends[2];
  if (pipe2(ends, O_CLOEXEC) != 0) throw Error(fmt::format("pipe: {}", std::strerror(errno)));
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, 0, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 1);
  posix_spawn_file_actions_adddup2(&actions, ends[1], 2);
  std::vector<char*> args;
  for (const std::string& a : argv) args.push_back(const_cast<char*>(a.c_str()));
  args.push_back(nullptr);
  pid_t child = 0;
  const int wrong = posix_spawnp(&child, args[0], &actions, nullptr, args.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);

  Finished f;
  if (wrong) {
    f.status = 127;
    f.output = std::strerror(wrong);
  } else {
    char buffer[4096];
    for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
      if (n > 0) f.output.append(buffer, std::size_t(n));
    int status = 0;
    while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
    }
    f.status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
  }
  close(ends[0]);
  return f;
}

TemporaryFolder::TemporaryFolder() {
  std::error_code error;
  const std::filesystem::path parent = std::filesystem::temp_directory_path(error);
  std::string name = ((error ? std::filesystem::path("/tmp") : parent) / "attune-XXXXXX").string();
  if (!mkdtemp(name.data())) throw Error(fmt::format("cannot make a temporary folder {}: {}", name, std::strerror(errno)));
  path_ = name;
}
TemporaryFolder::~TemporaryFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

void write_whole(const std::filesystem::path& path, std::string_view text) {
  const std::filesystem::path unfinished = path.string() + fmt::format(".{}.tmp", getpid());
  std::error_code error;
  {
    std::ofstream out(unfinished, std::ios::binary);
    out.write(text.data(), std::streamsize(text.size()));
    out.close();
    if (!out) {
      const int why = errno;
      std::filesystem::remove(unfinished, error);
      throw Error(fmt::format("cannot write {}: {}", path.string(), std::strerror(why)));
    }
  }
  std::filesystem::rename(unfinished, path, error);
  if (error) {
    const std::string why = error.message();
    std::filesystem::remove(unfinished, error);
    throw Error(fmt::format("cannot write {}: {}", path.string(), why));
  }
}

}  // namespace attune::host
