#include "cli/json.h"

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <nlohmann/json.hpp>

#include "cli/host/process.h"
#include "lower.h"

namespace attune::cli {

JsonOutput::JsonOutput(std::string file) : file_(std::move(file)) {
  if (!wanted()) return;
  const bool instead = file_ == "-";
  int opened = open(instead ? "/dev/null" : file_.c_str(), O_WRONLY | O_CLOEXEC);
  if (opened < 0 && errno == ENOENT) {
    opened = open(file_.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0666);
    made_ = opened >= 0;
  }
  if (opened < 0) throw Error(fmt::format("cannot write {}: {}", file_, std::strerror(errno)));
  if (instead) {
    std::fflush(stdout);
    stdout_ = dup(1);
    dup2(opened, 1);
  }
  close(opened);
}

JsonOutput::~JsonOutput() {
  if (made_) unlink(file_.c_str());
  if (stdout_ >= 0) close(stdout_);
}

void JsonOutput::write(const nlohmann::ordered_json& json) { write(json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n"); }

void JsonOutput::write(const std::string& text) {
  if (!wanted()) return;
  if (stdout_ < 0) {
    host::write_whole(file_, text);
    made_ = false;
    return;
  }
  std::fflush(stdout);
  dup2(stdout_, 1);
  std::fwrite(text.data(), 1, text.size(), stdout);
  std::fflush(stdout);
}

}  // namespace attune::cli
