#include "bench/tune.h"

#include <fmt/format.h>

#include <algorithm>

namespace attune::bench {
namespace {

// The model's first, then what it ranks next, each a quarter of them from further down the list: the
// model is good, and wrong where it matters.
std::vector<Choice> field(const std::vector<Ranked>& ranked, int wanted) {
  std::vector<Choice> r;
  const std::size_t near = std::min(ranked.size(), std::size_t(wanted - wanted / 4));
  for (std::size_t i = 0; i < near; ++i) r.push_back(ranked[i].choice);
  std::size_t end = near;  // of those within a tenth
  while (end < ranked.size() && ranked[end].cycles <= 1.1 * ranked[0].cycles) ++end;
  const std::size_t far = std::min(end - near, std::size_t(wanted / 4));
  for (std::size_t i = 0; i < far; ++i) r.push_back(ranked[near + i * (end - near) / far].choice);
  return r;
}

}  // namespace

Tuning tune(const Subject& subject, const std::string& isa, Tuning t, const TuneOptions& options, const Arena::Progress& progress, const std::function<void(const Tuning&)>& decided) {
  const std::vector<Decision> all = decisions(subject.graph, isa);
  const auto done = [&](const Decision& d) { return std::find(t.tuned.begin(), t.tuned.end(), d.title) != t.tuned.end(); };
  if (std::all_of(all.begin(), all.end(), done)) return t;
  Arena arena(subject, isa, progress);
  for (const Decision& d : all) {
    t.choices.resize(std::max(t.choices.size(), d.region + 1));
    if (done(d)) continue;
    std::vector<Choices> candidates;
    for (const Choice& c : field(d.ranked, options.candidates)) {
      candidates.push_back(t.choices);
      candidates.back()[d.region] = c;
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
    t.gain /= best->time;
    t.tuned.push_back(d.title);
    decided(t);
  }
  return t;
}

}  // namespace attune::bench
