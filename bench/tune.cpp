#include "bench/tune.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstddef>

namespace attune::bench {
namespace {

// Three quarters are what the model ranks first; the others stand further down, evenly, among those that
// it puts within a tenth of the first.
std::vector<Choice> field(const std::vector<Ranked>& ranked, int wanted) {
  std::vector<Choice> r;
  const std::size_t near = std::min(ranked.size(), std::size_t(wanted - wanted / 4));
  for (std::size_t i = 0; i < near; ++i) r.push_back(ranked[i].choice);
  std::size_t end = near;
  while (end < ranked.size() && ranked[end].cycles <= 1.1 * ranked[0].cycles) ++end;
  const std::size_t far = std::min(end - near, std::size_t(wanted / 4));
  for (std::size_t i = 0; i < far; ++i) r.push_back(ranked[near + i * (end - near) / far].choice);
  return r;
}

}  // namespace

Tuning tune(const Subject& subject, const std::string& isa, Tuning t, const TuneOptions& options, const Arena::Progress& progress, const std::function<void(const Tuning&)>& decided) {
  const std::vector<Decision> all = decisions(subject.graph, isa, subject.machines);
  const auto done = [&](const Decision& d) { return attune::decided(t.choices, d.region); };
  if (std::all_of(all.begin(), all.end(), done)) return t;
  Arena arena(subject, isa, progress);
  for (const Decision& d : all) {
    if (done(d)) continue;
    std::vector<Choices> candidates;
    for (const Choice& c : field(d.ranked, options.candidates)) {
      candidates.push_back(t.choices);
      decide(candidates.back(), d.region, c);
    }
    const auto told = [&](std::size_t i, std::size_t n, const std::string& what) { progress(i, n, fmt::format("{}: {}", d.title, what)); };
    const Measured* best = nullptr;
    const std::vector<Measured> results = arena.measure(candidates, options.rounds, true);
    told(1, 1, "");
    for (const Measured& m : results) {
      if (!m.failure.empty()) t.failures.push_back(fmt::format("{} {}: {}", d.title, text_of(m.choices[d.region]), m.failure));
      else if (!best || (m.rounds >= best->rounds && m.time < best->time) || m.rounds > best->rounds) best = &m;
    }
    if (!best) throw Error(fmt::format("{}, {}: no schedule of {} works", subject.expression, isa, d.title));
    t.choices = best->choices;
    t.median_percent = best->median_percent;
    t.rounds = best->rounds;
    t.gain = (t.gain == 0 ? 1 : t.gain) / best->time;
    decided(t);
  }
  return t;
}

}  // namespace attune::bench
