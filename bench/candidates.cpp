#include "bench/candidates.h"

#include <fmt/format.h>

#include <algorithm>
#include <future>
#include <thread>

#include "bench/cores.h"
#include "bench/measure.h"
#include "bench/peak.h"

namespace attune::bench {

struct Arena::Entrant {
  Measured result;
  std::shared_ptr<const host::Library> library;
  std::unique_ptr<host::Kernel> kernel;
  std::vector<double> time, percent;  // one a round
};

namespace {
constexpr int rounds_before_race = 5;   // then those more than this much behind stop
constexpr double far_behind = 1.04;
}  // namespace

Arena::Arena(const Subject& s, std::string isa, Progress progress)
    : subject_(s), isa_(std::move(isa)), progress_(std::move(progress)), interface_(interface_of(s.graph)), flops_(flops_of(s.graph)), inputs_{"standard", host::standard_inputs(interface_), true} {
  progress_(0, 1, "interpreting");
  expected_ = interpret_outputs(s.graph, inputs_.values);
  arguments_ = std::make_unique<host::Arguments>(interface_, inputs_.values, host::Place::on_huge_page);
  memory_ = std::make_shared<host::Memory>(host::Place::on_huge_page);
}
Arena::~Arena() = default;

// Only this runs on several threads: it touches nothing but its entrant.
void Arena::compile(std::vector<Entrant>& all, std::size_t at) {
  Entrant& e = all[at];
  try {
    GenerateOptions o;
    o.name = subject_.kernel;
    o.spec = subject_.expression;
    o.isas = {isa_};
    o.schedules[isa_] = e.result.choices;
    o.machines = subject_.machines;
    e.library = std::make_shared<host::Library>(generate(subject_.graph, o), folder_.path() / fmt::format("{}_{}", count_, at), std::vector<std::string>{"-O2"});
  } catch (const host::NoCompiler&) {
    throw;
  } catch (const Error& error) {
    e.result.failure = error.what();
  }
}

void Arena::enter(Entrant& e) {
  e.kernel = std::make_unique<host::Kernel>(e.library, subject_.kernel, memory_);
  const host::Deviation d = e.kernel->verify(interface_, *arguments_, expected_, true);
  if (!d.ok()) e.result.failure = d.fault();
}

void Arena::round(std::vector<Entrant*>& running) {
  std::vector<Entrant*> order = running;
  std::shuffle(order.begin(), order.end(), random_);
  double yardstick = 1;
  std::vector<std::pair<Entrant*, double>> times;
  for (Entrant* e : order) {
    e->kernel->pack(*arguments_);
    (*e->kernel)(*arguments_);  // warm
    const double before = peak_flops(isa_);
    const auto call = [&] { (*e->kernel)(*arguments_); };
    int calls = 1;
    double seconds = seconds_of(call);
    for (; seconds < 1e-3; ++calls) seconds += seconds_of(call);
    seconds /= calls;
    e->percent.push_back(100 * flops_ / seconds / std::max(before, peak_flops(isa_)));
    times.emplace_back(e, seconds);
    if (e == running.front()) yardstick = seconds;
  }
  for (const auto& [e, seconds] : times) e->time.push_back(seconds / yardstick);
}

std::vector<Measured> Arena::measure(const std::vector<Choices>& wanted, int rounds, bool race) {
  ++count_;
  std::vector<Entrant> all(wanted.size());
  for (std::size_t i = 0; i < all.size(); ++i) all[i].result.choices = wanted[i];
  const std::size_t workers = std::max(1u, std::thread::hardware_concurrency());
  for (std::size_t i = 0; i < all.size(); i += workers) {
    progress_(i, all.size(), "compiling");
    std::vector<std::future<void>> jobs;
    for (std::size_t k = i; k < std::min(all.size(), i + workers); ++k) jobs.push_back(std::async(std::launch::async, [&, k] { compile(all, k); }));
    for (auto& job : jobs) job.get();
  }
  std::vector<Entrant*> running;
  for (Entrant& e : all) {
    if (e.result.failure.empty()) enter(e);
    if (e.result.failure.empty()) running.push_back(&e);
  }
  const Pinned pinned(cores().front());  // only now: compilers use all cores
  for (int r = 0; r < rounds && !running.empty(); ++r) {
    progress_(std::size_t(r), std::size_t(rounds), fmt::format("measuring {} schedules", running.size()));
    round(running);
    if (!race || r + 1 < rounds_before_race || running.size() < 3) continue;
    double best = 1e300;
    for (const Entrant* e : running) best = std::min(best, median(e->time));
    std::erase_if(running, [&](const Entrant* e) { return e != running.front() && median(e->time) > far_behind * best; });
  }
  std::vector<Measured> results;
  for (Entrant& e : all) {
    if (!e.time.empty()) {
      e.result.time = median(e.time);
      e.result.median_percent = median(e.percent);
      e.result.rounds = int(e.time.size());
    }
    results.push_back(std::move(e.result));
  }
  return results;
}

}  // namespace attune::bench
