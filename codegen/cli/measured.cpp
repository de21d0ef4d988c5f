#include "cli/measured.h"

#include <fmt/format.h>

#include "bench/bench.h"
#include "cli/commands.h"
#include "isa/isa.h"

namespace attune::cli {

std::vector<std::pair<std::string, Measured::Figures>> Measured::rows() const {
  return {{complete ? "predicted" : "predicted, in part", predicted}, {"measured, best", best}, {"measured, median", median}};
}

static Measured beside(const Decided& d, const bench::Figures& f, double flops) {
  const auto cycles = [&](double percent) { return percent > 0 ? 100 * flops / percent / d.flops_a_cycle : 0; };
  const bench::Summary& s = f.summary;
  Measured m{d.isa, true, {}, {cycles(s.best_percent), s.best_seconds, s.best_percent}, {cycles(s.median_percent), s.median_seconds, s.median_percent}, f.repetitions};
  for (const Decided::Region& r : d.regions) {
    m.complete = m.complete && r.account;
    if (r.account) m.predicted.cycles += double(r.account->total()) / 1e3;
  }
  if (m.predicted.cycles > 0) m.predicted.percent = 100 * flops / m.predicted.cycles / d.flops_a_cycle;
  if (m.median.cycles > 0) m.predicted.seconds = m.predicted.cycles * m.median.seconds / m.median.cycles;
  return m;
}

std::vector<Measured> measured(const Spec& spec, const GenerateOptions& o, const std::vector<Decided>& all, std::vector<std::string>& lacking) {
  std::vector<std::string> here;
  for (const Decided& d : all) (host_supports(d.isa) ? here : lacking).push_back(d.isa);
  std::vector<Measured> r;
  if (here.empty()) return r;
  for (const bench::Figures& f : bench::kernels({spec.expression, o.name, here, spec.graph, o.schedules, o.machines}, progress))
    for (const Decided& d : all)
      if (d.isa == f.isa) r.push_back(beside(d, f, flops_of(spec.graph)));
  return r;
}

std::string text_of(const std::vector<Measured>& all) {
  if (all.empty()) return {};
  std::string r = fmt::format("a call on one core of this machine; cycles by the clock at which its FMA peak is the model's:\n  {:<10} {:<18} {:>19} {:>12} {:>9}\n", "", "", "thousands of cycles", "microseconds", "% of peak");
  for (const Measured& m : all) {
    std::string name = m.isa;
    for (const auto& [what, f] : m.rows()) {
      r += fmt::format("  {:<10} {:<18} {:>19.1f} {:>12.1f} {:>9.1f}\n", name, what, f.cycles / 1e3, f.seconds * 1e6, f.percent);
      name.clear();
    }
    r += fmt::format("  {:<10} of {} repetitions\n", "", m.repetitions);
  }
  return r;
}

}  // namespace attune::cli
