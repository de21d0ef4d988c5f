#include "cli/measured.h"

#include <fmt/format.h>

#include "cli/commands.h"
#include "isa/isa.h"

namespace attune::cli {

std::vector<Measured> measured(const Spec& spec, const GenerateOptions& o, const std::vector<Decided>& all, std::vector<std::string>& lacking) {
  std::vector<std::string> here;
  for (const Decided& d : all) (host_supports(d.isa) ? here : lacking).push_back(d.isa);
  std::vector<Measured> r;
  if (here.empty()) return r;
  const double flops = flops_of(spec.graph);
  for (const bench::Figures& f : bench::kernels({spec.expression, o.name, here, spec.graph, o.schedules, o.machines}, progress))
    for (const Decided& d : all) {
      if (d.isa != f.isa) continue;
      Measured m;
      m.isa = f.isa;
      m.figures = f;
      for (const Decided::Region& region : d.regions) {
        m.complete = m.complete && region.account;
        if (region.account) m.predicted_cycles += double(region.account->total()) / 1e3;
      }
      const auto cycles = [&](double percent) { return flops / (percent / 100 * d.flops_a_cycle); };
      m.best_cycles = cycles(f.summary.best_percent);
      m.median_cycles = cycles(f.summary.median_percent);
      m.predicted_seconds = f.summary.median_seconds * m.predicted_cycles / m.median_cycles;
      if (m.predicted_cycles > 0) m.predicted_percent = 100 * flops / d.flops_a_cycle / m.predicted_cycles;
      r.push_back(m);
    }
  return r;
}

std::string text_of(const std::vector<Measured>& all) {
  if (all.empty()) return {};
  std::string r = fmt::format("measured, whole calls on one core of this machine; cycles by its FMA peak:\n  {:<12} {:>10} {:>9} {:>10} {:>9} {:>10} {:>9}\n", "", "model", "% of peak", "best", "% of peak", "median", "% of peak");
  for (const Measured& m : all) {
    const bench::Summary& s = m.figures.summary;
    r += fmt::format("  {:<12} {:>10.1f} {:>9.1f} {:>10.1f} {:>9.1f} {:>10.1f} {:>9.1f}  thousands of cycles{}\n", m.isa, m.predicted_cycles / 1e3, m.predicted_percent, m.best_cycles / 1e3, s.best_percent, m.median_cycles / 1e3, s.median_percent, m.complete ? "" : "; the model does not know all regions");
    r += fmt::format("  {:<12} {:>10.1f} {:>9} {:>10.1f} {:>9} {:>10.1f} {:>9}  microseconds, {} repetitions\n", "", m.predicted_seconds * 1e6, "", s.best_seconds * 1e6, "", s.median_seconds * 1e6, "", m.figures.repetitions);
  }
  return r;
}

}  // namespace attune::cli
