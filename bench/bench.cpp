#include "bench/bench.h"

#include <attune/threads/pool.h>
#include <fmt/format.h>

#include <algorithm>

#include "bench/cores.h"
#include "bench/measure.h"
#include "cli/host/terminal.h"

namespace attune::bench {

namespace {
std::string time_of(double seconds) {
  if (seconds < 1e-3) return fmt::format("{:.1f} us", seconds * 1e6);
  return seconds < 1 ? fmt::format("{:.2f} ms", seconds * 1e3) : fmt::format("{:.2f} s", seconds);
}

void table(const Subject& subject, const Field& field, double flops) {
  double textbook = 0, vectorisable = 0;
  std::size_t width = 10;
  for (const Contender& c : field.contenders) {
    const double s = summarise(c, flops).median_seconds;
    if (c.role == Role::naive_textbook) textbook = s;
    if (c.role == Role::naive_vectorisable) vectorisable = s;
    width = std::max(width, c.name.size());
  }
  fmt::print("{} ({:.1f} MFLOP)\n", subject.expression, flops / 1e6);
  fmt::print("  {:<{}} {:>10} {:>16} {:>22}\n", "", width, "", "% of FMA peak", "times as fast as naive");
  fmt::print("  {:<{}} {:>10} {:>7} {:>8} {:>10} {:>11} {:>10} {:>11}\n", "contender", width, "median", "best", "median", "textbook", "vectorised", "max error", "error/bound");
  std::string fewer, cores;
  int most = 0;
  for (const Contender& c : field.contenders) most = std::max(most, c.repetitions);
  for (const Contender& c : field.contenders) {
    const Summary s = summarise(c, flops);
    const auto against = [&](double naive) { return naive > 0 ? fmt::format("{:.1f}", naive / s.median_seconds) : std::string("-"); };
    fmt::print("  {:<{}} {:>10} {:>7.1f} {:>8.1f} {:>10} {:>11} {:>10.1e} {:>11.3g}\n", c.name, width, time_of(s.median_seconds), s.best_percent, s.median_percent,
               against(textbook), against(vectorisable), c.deviation.max_error, c.deviation.over_bound);
    if (c.one) cores += fmt::format("{}{} {:.2f} [{:.2f}, {:.2f}]", cores.empty() ? "" : "; ", c.name, s.times_one[1], s.times_one[0], s.times_one[2]);
    if (c.repetitions < most) fewer += fmt::format("{}{} {}", fewer.empty() ? "" : ", ", c.name, c.repetitions);
  }
  fmt::print("  {} repetitions each{}\n", most, fewer.empty() ? "" : fmt::format(", fewer for the slow: {}", fewer));
  if (!cores.empty()) fmt::print("  times one core, median [quartiles]: {}\n", cores);
  for (const std::string& f : field.failures) fmt::print("  {} {}\n", host::in(host::Colour::red, "FAIL"), f);
  fmt::print("\n");
  std::fflush(stdout);
}

// Of every spec, each ISA's median % of the peak on usual data.
struct Reached {
  std::string expression;
  std::vector<double> percent;  // 0: not there
};

// What the same work takes in each spec, beside the first: work is counted by kept pairs.
void comparison(const std::vector<Reached>& all, const std::vector<std::string>& isas) {
  if (all.size() < 2) return;
  std::size_t width = 0;
  for (const Reached& r : all) width = std::max(width, r.expression.size());
  fmt::print("{:<{}}", "time of a FLOP, the first one's 1", std::max(width, std::size_t(34)));
  for (const std::string& isa : isas) fmt::print(" {:>9}", isa);
  fmt::print("\n");
  for (const Reached& r : all) {
    fmt::print("{:<{}}", r.expression, std::max(width, std::size_t(34)));
    for (std::size_t i = 0; i < isas.size(); ++i) fmt::print(" {:>9}", r.percent[i] > 0 && all[0].percent[i] > 0 ? fmt::format("{:.2f}", all[0].percent[i] / r.percent[i]) : "-");
    fmt::print("\n");
  }
}
}  // namespace

std::vector<Figures> kernels(const Subject& subject, const std::function<void(const std::string&)>& progress) {
  const Pinned pinned(cores().front());
  ThreadPool pool(1);
  const host::TemporaryFolder folder;
  Field field = assemble(subject, Who::kernels, folder, pool, progress);
  if (!field.failures.empty()) throw Error(field.failures.front());
  const double flops = flops_of(subject.graph);
  progress(fmt::format("{}: measuring {} kernels", subject.expression, field.contenders.size()));
  Recorder().measure(subject, field.contenders, flops);
  progress("");
  std::vector<Figures> all;
  for (const Contender& c : field.contenders) all.push_back({c.isa, c.repetitions, summarise(c, flops)});
  return all;
}

bool run(const std::vector<Subject>& subjects, int workers, std::string* json, const std::function<void(const std::string&)>& progress) {
  std::vector<int> cpus = cores();
  if (std::size_t(workers) > cpus.size()) throw Error(fmt::format("{} workers want a core each; cores that this process may use: {}", workers, cpus.size()));
  cpus.resize(std::size_t(workers));
  const Pinned pinned(cpus.front());
  ThreadPool pool(workers, [&cpus](int worker) { bind_to(cpus[std::size_t(worker)]); });
  Recorder recorder;
  bool ok = true;
  std::vector<Reached> reached;
  const std::vector<std::string> isas = subjects.empty() ? std::vector<std::string>() : subjects[0].isas;
  for (const Subject& subject : subjects) {
    const host::TemporaryFolder folder;
    Field field = assemble(subject, Who::everybody, folder, pool, progress);
    const double flops = flops_of(subject.graph);
    progress(fmt::format("{}: measuring {} contenders", subject.expression, field.contenders.size()));
    recorder.measure(subject, field.contenders, flops);
    progress("");
    table(subject, field, flops);
    ok = ok && field.failures.empty();
    Reached r{subject.expression, std::vector<double>(isas.size())};
    for (std::size_t i = 0; i < isas.size(); ++i)
      for (const Contender& c : field.contenders)
        if (c.name == isas[i]) r.percent[i] = summarise(c, flops).median_percent;
    reached.push_back(std::move(r));
  }
  comparison(reached, isas);
  if (json) *json = recorder.json();
  return ok;
}

}  // namespace attune::bench
