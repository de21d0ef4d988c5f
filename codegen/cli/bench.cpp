#include "bench/bench.h"

#include "cli/commands.h"

namespace attune::cli {

int bench(const Common& common, int workers, const std::string& json) {
  std::vector<attune::bench::Subject> subjects;
  for (const Spec& spec : some_specs(common.wanted)) {
    const GenerateOptions o = options_for(spec, common);
    subjects.push_back({spec.expression, o.name, o.isas, spec.graph, o.schedules, o.machines});
  }
  return attune::bench::run(subjects, workers, json, progress) ? 0 : 1;
}

}  // namespace attune::cli
