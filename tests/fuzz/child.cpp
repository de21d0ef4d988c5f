#include "fuzz/child.h"

#include <fmt/format.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cerrno>
#include <csignal>
#include <cstdio>
#include <stdexcept>

namespace attune::fuzz {

static void write_all(int to, const std::string& text) {
  for (std::size_t at = 0; at < text.size();) {
    const ssize_t n = write(to, text.data() + at, text.size() - at);
    if (n < 0 && errno != EINTR) break;
    if (n > 0) at += std::size_t(n);
  }
}

std::string in_child(const std::function<std::string()>& work, int seconds, bool& failed) {
  int ends[2];
  if (pipe(ends)) throw std::runtime_error("no pipe");
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child < 0) throw std::runtime_error("no process");
  if (child == 0) {
    close(ends[0]);
    const rlimit limit{rlim_t(seconds), rlim_t(seconds)};
    setrlimit(RLIMIT_CPU, &limit);
    int status = 0;
    std::string text;
    try {
      text = work();
    } catch (const std::exception& e) {
      text = e.what();
      status = 1;
    }
    write_all(ends[1], text);
    _exit(status);
  }
  close(ends[1]);
  std::string text;
  char buffer[4096];
  for (ssize_t n; (n = read(ends[0], buffer, sizeof buffer)) > 0 || (n < 0 && errno == EINTR);)
    if (n > 0) text.append(buffer, std::size_t(n));
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  failed = status != 0;
  if (!WIFSIGNALED(status)) return text;
  const int signal = WTERMSIG(status);
  if (signal == SIGKILL || signal == SIGXCPU) return text + fmt::format("it takes longer than {} seconds", seconds);
  return text + fmt::format("it crashes with signal {}{}", signal, signal == SIGSEGV ? ", an access to memory that isn't its own or a write to an input" : "");
}

}  // namespace attune::fuzz
