#include "bench/measure.h"

#include <benchmark/benchmark.h>
#include <fmt/format.h>

#include <algorithm>
#include <sstream>

#include "bench/peak.h"

namespace attune::bench {

double quantile(std::vector<double> v, double at) {
  if (v.empty()) return 0;
  std::sort(v.begin(), v.end());
  const double place = at * double(v.size() - 1);
  const std::size_t below = std::size_t(place), above = std::min(below + 1, v.size() - 1);
  return v[below] + (place - double(below)) * (v[above] - v[below]);
}

namespace {
void warm(const Contender& c) {
  if (c.seconds < 0.02) c.run();  // the others have had the caches
}

// Of one call, mean over as many runs as the contender's repetitions have.
double mean_seconds(const Contender& c) {
  warm(c);
  double total = 0;
  for (long i = 0; i < c.iterations; ++i) total += seconds_of(c.run);
  return total / double(c.iterations * c.calls);
}

void repetition(benchmark::State& state, Contender& c, const Contender* one, double flops) {
  const double of_one = one ? mean_seconds(*one) : 0;
  const double before = peak_flops(c.isa);
  warm(c);
  double total = 0;
  for (auto _ : state) {
    const double seconds = seconds_of(c.run) / c.calls;
    state.SetIterationTime(seconds);
    total += seconds;
  }
  Sample s{total / double(state.iterations()), std::max(before, peak_flops(c.isa)) * c.cores};
  s.times_one = of_one / s.seconds;
  c.samples.push_back(s);
  state.counters["pct_fma_peak"] = 100 * flops / s.seconds / s.peak;
  state.counters["max_err_over_bound"] = c.deviation.over_bound;
  if (!one) return;
  state.counters["cores"] = c.cores;
  state.counters["times_one_core"] = s.times_one;
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
  std::vector<double> seconds, percent, times_one;
  double least = 0, peak = 0;
  for (const Sample& x : c.samples) {
    seconds.push_back(x.seconds);
    percent.push_back(100 * flops / x.seconds / x.peak);
    times_one.push_back(x.times_one);
    least = least == 0 ? x.seconds : std::min(least, x.seconds);
    peak = std::max(peak, x.peak);
  }
  if (c.samples.empty()) return s;
  s.median_seconds = median(seconds);
  s.best_seconds = least;
  s.best_percent = 100 * flops / least / peak;
  s.median_percent = median(percent);
  for (int q = 0; q < 3; ++q) s.times_one[q] = quantile(times_one, 0.25 * (q + 1));
  return s;
}

void Recorder::measure(const Subject& subject, std::vector<Contender>& contenders, double flops) {
  if (contenders.empty()) return;
  benchmark::ClearRegisteredBenchmarks();
  for (Contender& c : contenders) {
    benchmark::RegisterBenchmark(fmt::format("{}/{}", subject.expression, c.name).c_str(), [&c, one = c.one ? &contenders[*c.one] : nullptr, flops](benchmark::State& state) { repetition(state, c, one, flops); })
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
    if (c.role == Role::naive_textbook || c.role == Role::naive_vectorisable) {
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

std::string Recorder::json() const {
  std::ostringstream text;
  benchmark::JSONReporter reporter;
  reporter.SetOutputStream(&text);
  reporter.SetErrorStream(&text);
  reporter.ReportContext({});
  reporter.ReportRuns(runs_->all);
  reporter.Finalize();
  return text.str();
}

}  // namespace attune::bench
