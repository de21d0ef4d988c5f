#include <fmt/format.h>

#include "cli/commands.h"

namespace attune::cli {

int explain(const Common& common) {
  const Spec spec = one_spec(common.wanted);
  const std::string text = attune::explain(spec.graph, options_for(spec, common));
  fmt::print("{}{}", text, text.empty() || text.back() == '\n' ? "" : "\n");
  return 0;
}

}  // namespace attune::cli
