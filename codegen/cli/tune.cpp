#include "bench/tune.h"

#include <fmt/format.h>

#include <set>

#include "bench/machine.h"
#include "cli/commands.h"
#include "cli/wisdom.h"

namespace attune::cli {
namespace {

void bar(std::size_t done, std::size_t all, const std::string& what) {
  if (what.empty()) return progress("");
  const std::size_t width = 24, filled = all ? width * done / all : 0;
  progress(fmt::format("[{}{}] {}/{} {}", std::string(filled, '#'), std::string(width - filled, '.'), done, all, what));
}

// As the file knows it, else measured now.
Machine machine(Wisdom& wisdom, const std::string& isa, const std::string& cpu, bool again) {
  if (const WisdomMachine* known = wisdom.machine(isa, cpu); known && known->cpu == cpu && !again) return known->machine;
  const Machine m = bench::measure_machine(isa);
  fmt::print("{}: {}\n", isa, text_of(m));
  wisdom.add(WisdomMachine{isa, cpu, m});
  return m;
}

}  // namespace

int tune(const Common& common, const std::string& path, int candidates, bool again) {
  Wisdom wisdom(path);
  const std::string cpu = cpu_id(), compiler = compiler_id();
  bool ok = true;
  std::set<std::string> measured;
  for (const Spec& spec : some_specs(common.wanted)) {
    const GenerateOptions o = options_for(spec, common);
    bench::Subject subject{spec.expression, o.name, o.isas, spec.graph, {}};
    for (const std::string& isa : o.isas) {
      if (!host_supports(isa)) {
        fmt::print("{} {}: this CPU does not run it\n", spec.expression, isa);
        continue;
      }
      subject.machines[isa] = machine(wisdom, isa, cpu, measured.insert(isa).second && again);
      const std::vector<Decision> all = decisions(spec.graph, isa, subject.machines);
      WisdomEntry entry{graph_hash(spec.graph), spec.expression, isa, cpu, {}, 0, 0, compiler};
      bench::Tuning start;
      if (const WisdomEntry* before = wisdom.find(entry.graph, isa, cpu); before && before->cpu == cpu && !again) {
        start.choices = choices_of(*before, all);
        start.median_percent = before->median_percent;
        start.rounds = before->rounds;
      }
      const auto keep = [&](const bench::Tuning& t) {
        entry.median_percent = t.median_percent;
        entry.rounds = t.rounds;
        for (const Decision& d : all)
          if (decided(t.choices, d.region)) entry.schedule[d.title] = t.choices[d.region];
        wisdom.add(entry);
      };
      bench::TuneOptions options;
      options.candidates = candidates;
      const bench::Tuning t = bench::tune(subject, isa, start, options, [&](std::size_t i, std::size_t n, const std::string& what) { bar(i, n, what.empty() ? "" : fmt::format("{} {}: {}", spec.expression, isa, what)); }, keep);
      progress("");
      const std::string gain = t.gain == 0 ? "known before" : fmt::format("{:.3f} times as fast as the model's choice for what was measured now", t.gain);
      fmt::print("{} {}: {:.1f} % of FMA peak, {}\n", spec.expression, isa, t.median_percent, gain);
      for (const Decision& d : all) fmt::print("  {}: {}{}\n", d.title, text_of(t.choices[d.region]), t.choices[d.region] == d.ranked[0].choice ? " (the model's)" : "");
      for (const std::string& f : t.failures) fmt::print("  {} {}\n", host::in(host::Colour::red, "FAIL"), f);
      ok = ok && t.failures.empty();
    }
  }
  fmt::print("{}\n", path);
  return ok ? 0 : 1;
}

}  // namespace attune::cli
