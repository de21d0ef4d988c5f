#include "bench/tune.h"

#include <fmt/format.h>

#include "bench/measure.h"
#include "cli/commands.h"
#include "cli/host/target.h"
#include "cli/wisdom.h"

namespace attune::cli {
namespace {

bench::Tuning known(const WisdomEntry* e, const std::vector<Decision>& all) {
  bench::Tuning t;
  if (!e) return t;
  t.median_percent = e->median_percent;
  t.rounds = e->rounds;
  for (const Decision& d : all)
    if (const auto c = e->schedule.find(d.title); c != e->schedule.end()) {
      t.choices.resize(std::max(t.choices.size(), d.region + 1));
      t.choices[d.region] = c->second;
      t.tuned.push_back(d.title);
    }
  return t;
}

void bar(std::size_t done, std::size_t all, const std::string& what) {
  if (what.empty()) return progress("");
  const std::size_t width = 24, filled = all ? width * done / all : 0;
  progress(fmt::format("[{}{}] {}/{} {}", std::string(filled, '#'), std::string(width - filled, '.'), done, all, what));
}

}  // namespace

int tune(const Common& common, const std::string& path, int candidates, bool again) {
  Wisdom wisdom(path);
  const std::string cpu = cpu_id(), compiler = compiler_id();
  bool ok = true;
  attune::bench::pin_to_one_core();
  for (const Spec& spec : some_specs(common.wanted)) {
    const GenerateOptions o = options_for(spec, common);
    const bench::Subject subject{spec.expression, o.name, o.isas, spec.graph, {}};
    for (const std::string& isa : o.isas) {
      if (!host::runs(isa)) {
        fmt::print("{} {}: this CPU does not run it\n", spec.expression, isa);
        continue;
      }
      const std::vector<Decision> all = decisions(spec.graph, isa);
      WisdomEntry entry{graph_hash(spec.graph), spec.expression, isa, cpu, {}, 0, 0, compiler};
      const WisdomEntry* before = again ? nullptr : wisdom.find(entry.graph, isa, cpu);
      const auto keep = [&](const bench::Tuning& t) {
        entry.median_percent = t.median_percent;
        entry.rounds = t.rounds;
        for (const Decision& d : all)
          if (std::find(t.tuned.begin(), t.tuned.end(), d.title) != t.tuned.end()) entry.schedule[d.title] = t.choices[d.region];
        wisdom.add(entry);
      };
      bench::TuneOptions options;
      options.candidates = candidates;
      const bench::Tuning t = bench::tune(subject, isa, known(before && before->cpu == cpu ? before : nullptr, all), options, [&](std::size_t i, std::size_t n, const std::string& what) { bar(i, n, what.empty() ? "" : fmt::format("{} {}: {}", spec.expression, isa, what)); }, keep);
      progress("");
      fmt::print("{} {}: {:.1f} % of FMA peak, {:.3f} times as fast as the model's choice\n", spec.expression, isa, t.median_percent, t.gain);
      for (const Decision& d : all) fmt::print("  {}: {}{}\n", d.title, text_of(t.choices[d.region]), t.choices[d.region] == d.ranked[0].choice ? " (the model's)" : "");
      for (const std::string& f : t.failures) fmt::print("  FAIL {}\n", f);
      ok = ok && t.failures.empty();
    }
  }
  fmt::print("{}\n", path);
  return ok ? 0 : 1;
}

}  // namespace attune::cli
