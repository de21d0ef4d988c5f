#include "cli/host/terminal.h"

#include <fmt/format.h>
#include <unistd.h>

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <mutex>
#include <string_view>
#include <thread>

namespace attune::host {

namespace {

// The line, and a thread that shows it when the time has come, since work says nothing while it lasts.
class Line {
 public:
  Line() : timer_([this] { wait(); }) {}
  ~Line() {
    {
      const std::lock_guard lock(mutex_);
      ending_ = true;
    }
    end_.notify_one();
    timer_.join();
  }
  void set(const std::string& what) {
    const std::lock_guard lock(mutex_);
    what_ = what;
    if (due_) draw();
  }

 private:
  void wait() {
    std::unique_lock lock(mutex_);
    if (end_.wait_for(lock, std::chrono::seconds(2), [&] { return ending_; })) return;
    due_ = true;
    if (!what_.empty()) draw();
  }
  void draw() {
    std::fflush(stdout);
    fmt::print(stderr, "\r\033[K{}", what_);
    std::fflush(stderr);
  }

  std::mutex mutex_;
  std::condition_variable end_;
  std::string what_;
  bool due_ = false, ending_ = false;
  std::thread timer_;  // last: it uses the others
};

}  // namespace

void progress(const std::string& what) {
  if (!isatty(2)) return;
  static Line line;
  line.set(what);
}

std::string in(Colour colour, const std::string& text, int file) {
  const char* const none = std::getenv("NO_COLOR");
  const char* const terminal = std::getenv("TERM");
  if ((none && *none) || !isatty(file) || (terminal && std::string_view(terminal) == "dumb")) return text;
  return fmt::format("\033[{}m{}\033[0m", int(colour), text);
}

}  // namespace attune::host
