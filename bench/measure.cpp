#include "bench/measure.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>
#include <sched.h>

#include <algorithm>
#include <chrono>
#include <sstream>

#include "bench/peak.h"

namespace attune::bench {

double median(std::vector<double> v) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const std::size_t half = v.size() / 2;
  return v.size() % 2 ? v[half] : (v[half - 1] + v[half]) / 2;
}

namespace {
void repetition(benchmark::State& state, Contender& c, double flops) {
  if (c.seconds < 0.02) (*c.kernel)(*c.arguments);  // warm: the others have had the caches
  const double before = peak_flops(c.isa);
  double total = 0;
  for (auto _ : state) {
    const double seconds = seconds_of(*c.kernel, *c.arguments);
    state.SetIterationTime(seconds);
    total += seconds;
  }
  const Sample s{total / double(state.iterations()), std::max(before, peak_flops(c.isa))};
  c.samples.push_back(s);
  state.counters["pct_fma_peak"] = 100 * flops / s.seconds / s.peak;
  state.counters["max_err_over_bound"] = c.deviation.over_bound;
}

class Collector : public benchmark::BenchmarkReporter {
 public:
  bool ReportContext(const Context&) override { return true; }
  void ReportRuns(const std::vector<Run>& report) override { runs.insert(runs.end(), report.begin(), report.end()); }
  std::vector<Run> runs;
};
}  // namespace

struct Recorder::Runs {
  std::vector<benchmark::BenchmarkReporter::Run> all;
};
Recorder::Recorder() : runs_(std::make_unique<Runs>()) {
  std::string program = "attune", interleave = "--benchmark_enable_random_interleaving=true";
  char* argv[] = {program.data(), interleave.data(), nullptr};
  int argc = 2;
  benchmark::Initialize(&argc, argv);
}
Recorder::~Recorder() = default;

Summary summarise(const Contender& c, double flops) {
  Summary s;
  std::vector<double> seconds, percent;
  double least = 0, peak = 0;
  for (const Sample& x : c.samples) {
    seconds.push_back(x.seconds);
    percent.push_back(100 * flops / x.seconds / x.peak);
    least = least == 0 ? x.seconds : std::min(least, x.seconds);
    peak = std::max(peak, x.peak);
  }
  if (c.samples.empty()) return s;
  s.median_seconds = median(seconds);
  s.best_percent = 100 * flops / least / peak;
  s.median_percent = median(percent);
  return s;
}

double seconds_of(const host::Kernel& kernel, const host::Arguments& arguments) {
  using clock = std::chrono::steady_clock;
  const auto begin = clock::now();
  kernel(arguments);
  return std::chrono::duration<double>(clock::now() - begin).count();
}

Pinned::Pinned() {
  sched_getaffinity(0, sizeof before_, &before_);
  const int cpu = sched_getcpu();
  if (cpu < 0) return;
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(cpu, &set);
  sched_setaffinity(0, sizeof set, &set);
}
Pinned::~Pinned() { sched_setaffinity(0, sizeof before_, &before_); }

void Recorder::measure(const Subject& subject, std::vector<Contender>& contenders, double flops) {
  if (contenders.empty()) return;
  benchmark::ClearRegisteredBenchmarks();
  for (Contender& c : contenders) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", subject.expression, c.name).c_str(), [&c, flops](benchmark::State& state) { repetition(state, c, flops); })
        ->UseManualTime()
        ->Iterations(c.iterations)
        ->Repetitions(c.repetitions)
        ->Unit(benchmark::kMicrosecond);
  }
  Collector collector;
  benchmark::RunSpecifiedBenchmarks(&collector);
  benchmark::ClearRegisteredBenchmarks();

  // Only now is the faster naive order known.
  double naive = 0;
  for (const Contender& c : contenders)
    if (c.role != Role::kernel) {
      const double s = summarise(c, flops).median_seconds;
      naive = naive == 0 ? s : std::min(naive, s);
    }
  for (benchmark::BenchmarkReporter::Run& run : collector.runs) {
    const bool deviation = run.aggregate_name == "stddev" || run.aggregate_name == "cv";
    const double seconds = run.GetAdjustedRealTime() / benchmark::GetTimeUnitMultiplier(run.time_unit);
    if (naive > 0 && !deviation && seconds > 0) run.counters["speedup_vs_naive"] = naive / seconds;
  }
  runs_->all.insert(runs_->all.end(), collector.runs.begin(), collector.runs.end());
}

void Recorder::write_json(const std::string& path) const {
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  reporter.SetErrorStream(&text);
  reporter.ReportContext({});
  reporter.ReportRuns(runs_->all);
  reporter.Finalize();
  host::write_whole(path, text.str());
}

}  // namespace attune::bench
