// Where --json puts what a command's tables say.
#pragma once
#include <nlohmann/json_fwd.hpp>
#include <string>

namespace attune::cli {

// A file beside the tables on stdout, or with "-" stdout in their place. Empty: no JSON is wanted.
class JsonOutput {
 public:
  // Throws Error if the file can't be written: now, rather than after minutes of work.
  explicit JsonOutput(std::string file);
  // What was there before stays unless something was written.
  ~JsonOutput();
  JsonOutput(const JsonOutput&) = delete;
  JsonOutput& operator=(const JsonOutput&) = delete;
  bool wanted() const { return !file_.empty(); }
  void write(const nlohmann::ordered_json&);
  void write(const std::string& text);

 private:
  std::string file_;
  bool made_ = false;  // the file is ours, and empty
  int stdout_ = -1;    // the true one, while tables go nowhere
};

}  // namespace attune::cli
