#include "bench/bench.h"

#include "cli/commands.h"

namespace attune::cli {

int bench(const Common& common, int workers, JsonOutput& json) {
  std::vector<attune::bench::Subject> subjects;
  for (const Spec& spec : some_specs(common.wanted)) {
    const GenerateOptions o = options_for(spec, common);
    subjects.push_back({spec.expression, o.name, o.isas, spec.graph, o.schedules, o.machines});
  }
  std::string runs;
  const bool ok = attune::bench::run(subjects, workers, json.wanted() ? &runs : nullptr, progress);
  json.write(runs);
  return ok ? 0 : 1;
}

}  // namespace attune::cli
