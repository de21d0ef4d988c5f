// Random specs against the interpreter: attune_fuzz [N], attune_fuzz --seeds 17..17 --show.
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <CLI/CLI.hpp>
#include <atomic>
#include <optional>

#include "cli/host/process.h"
#include "fuzz/child.h"
#include "fuzz/graphs.h"
#include "fuzz/subject.h"
#include "graph/print.h"
#include "graph/verify.h"

namespace {

using namespace attune;
using namespace attune::fuzz;

constexpr int seconds_a_seed = 60;

struct Options {
  long first = 1, last = 200;
  int batch = 8;      // graphs a compilation
  int failures = 3;   // after which to stop
  int jobs = 1;       // processes
  bool show = false;
  std::string keep;   // where sources go, instead of a temporary folder
};

class Fuzzer {
 public:
  explicit Fuzzer(const Options& o, const std::atomic<bool>* stop = nullptr) : o_(o), stop_(stop) {}

  bool run() {
    for (long seed = o_.first; seed <= o_.last && failures_ < o_.failures && !(stop_ && *stop_); seed += o_.batch * o_.jobs) {
      const long last = std::min(o_.last, seed + o_.batch - 1);
      one_batch(seed, last);
      fmt::print("up to seed {}: {} graphs checked, {} discarded, {} failed\n", last, checked_, discarded_, failures_);
      std::fflush(stdout);
    }
    if (tally_.elements) fmt::print("{} elements compared, {:.1f}% of them under a bound of less than a thousandth\n", tally_.elements, 100.0 * double(tally_.sharp) / double(tally_.elements));
    return failures_ == 0;
  }

 private:
  struct Entry {
    std::uint64_t seed;
    Subject subject;
  };

  const Options& o_;
  const std::atomic<bool>* stop_;
  long checked_ = 0, discarded_ = 0, failures_ = 0;
  Tally tally_;

  void fail(std::uint64_t seed, const std::string& complaint) {
    ++failures_;
    fmt::print("\nFAIL: seed {0}: {1}\n{2}again: attune_fuzz --seeds {0}..{0} [--keep FOLDER]\n\n", seed, complaint, to_text(random_graph(seed)));
  }

  // The graph of a seed if it is one of the language.
  std::optional<Graph> accepted(std::uint64_t seed) {
    Graph g = random_graph(seed);
    if (o_.show) fmt::print("seed {}:\n{}", seed, to_text(g));
    try {
      verify(g);
    } catch (const InvalidGraph& e) {
      if (o_.show) fmt::print("discarded: {}\n", e.what());
      ++discarded_;
      return std::nullopt;
    }
    return g;
  }

  void one_batch(long first, long last) {
    std::vector<Entry> entries;
    for (long seed = first; seed <= last; ++seed) {
      const std::optional<Graph> g = accepted(std::uint64_t(seed));
      if (!g) continue;
      ++checked_;
      bool failed = false;  // first in a child: a generator that crashes or hangs is a failure like any other
      const Complaint wrong = in_child([&] {
        Subject s(std::uint64_t(seed), *g);
        std::vector<SourceFile> files;
        std::string code;
        s.generate(files, code);
        return s.passes();
      }, seconds_a_seed, failed);
      if (failed || !wrong.empty()) fail(std::uint64_t(seed), failed ? "the compiler fails: " + wrong : wrong);
      else entries.push_back({std::uint64_t(seed), Subject(std::uint64_t(seed), *g)});
    }
    if (!compiled(entries) && entries.size() > 1)
      for (Entry& e : entries) {  // find the culprit
        std::vector<Entry> one;
        one.push_back(std::move(e));
        compiled(one);
      }
  }

  // False if the code of several doesn't compile.
  bool compiled(std::vector<Entry>& entries) {
    if (entries.empty()) return true;
    std::vector<SourceFile> files;
    std::string code;
    for (Entry& e : entries) e.subject.generate(files, code);
    files.push_back({"kernels.cpp", code});
    const host::TemporaryFolder folder;
    std::shared_ptr<const host::Library> library;
    try {
      library = std::make_shared<const host::Library>(files, o_.keep.empty() ? folder.path() : std::filesystem::path(o_.keep), compiler_flags());
    } catch (const host::NoCompiler&) {
      throw;
    } catch (const Error& e) {
      if (entries.size() == 1) fail(entries[0].seed, e.what());
      return false;
    }
    for (const Entry& e : entries) {
      bool failed = false;
      const std::string said = in_child([&] {
        Tally t;
        const Complaint wrong = e.subject.kernels(library, t);
        return fmt::format("{} {} {}", t.elements, t.sharp, wrong);
      }, seconds_a_seed, failed);
      long elements = 0, sharp = 0;
      int end = 0;
      if (!failed && std::sscanf(said.c_str(), "%ld %ld %n", &elements, &sharp, &end) == 2) {
        tally_.elements += elements;
        tally_.sharp += sharp;
      }
      const Complaint wrong = failed ? said : said.substr(std::size_t(end));
      if (!wrong.empty()) fail(e.seed, wrong);
    }
    return true;
  }
};

// Each job takes every jobs-th batch. When one fails the others end with the batch that they are at.
bool run_jobs(const Options& o) {
  void* shared = mmap(nullptr, sizeof(std::atomic<bool>), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
  if (shared == MAP_FAILED) throw std::runtime_error("no memory");
  auto* stop = new (shared) std::atomic<bool>(false);
  for (int j = 0; j < o.jobs; ++j) {
    const pid_t child = fork();
    if (child < 0) throw std::runtime_error("no process");
    if (child == 0) {
      Options mine = o;
      mine.first += long(j) * o.batch;
      int status = 2;
      try {
        status = Fuzzer(mine, stop).run() ? 0 : 1;
      } catch (const std::exception& e) {
        fmt::print(stderr, "attune_fuzz: {}\n", e.what());
      }
      if (status) *stop = true;
      std::fflush(nullptr);
      _exit(status);
    }
  }
  bool ok = true;
  for (int left = o.jobs; left > 0; --left) {
    int status = 0;
    wait(&status);
    if (status) *stop = true;  // it crashed, perhaps
    ok = ok && status == 0;
  }
  return ok;
}

}  // namespace

int main(int argc, char** argv) {
  Options o;
  long count = 0;
  std::string seeds;
  CLI::App app{"Random graphs: every pass keeps their meaning, and every kernel computes it, within the interpreter's bounds.", "attune_fuzz"};
  app.add_option("N", count, "how many seeds, from 1 on");
  app.add_option("--seeds", seeds, "A..B");
  app.add_option("--batch", o.batch, "graphs compiled together")->check(CLI::PositiveNumber);
  app.add_option("--failures", o.failures, "stop after this many")->check(CLI::PositiveNumber);
  app.add_option("--jobs", o.jobs, "processes side by side")->check(CLI::PositiveNumber);
  app.add_option("--keep", o.keep, "put the sources here");
  app.add_flag("--show", o.show, "print every graph");
  CLI11_PARSE(app, argc, argv);
  if (count > 0) o.last = count;
  if (!seeds.empty() && std::sscanf(seeds.c_str(), "%ld..%ld", &o.first, &o.last) != 2) {
    fmt::print(stderr, "--seeds takes A..B, two numbers\n");
    return 2;
  }
  try {
    return (o.jobs > 1 ? run_jobs(o) : Fuzzer(o).run()) ? 0 : 1;
  } catch (const std::exception& e) {
    fmt::print(stderr, "attune_fuzz: {}\n", e.what());
    return 2;
  }
}
