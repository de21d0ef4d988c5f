#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"

namespace attune::cli {

static void table(const char* title, const std::vector<Spec>& specs) {
  std::size_t width = 0, notes = 0;
  for (const Spec& s : specs) {
    width = std::max(width, s.expression.size());
    notes = std::max(notes, s.note.size());
  }
  fmt::print("{:{}}  {:>9}  {:{}}  inputs\n", title, width, "MFLOP", "what it is", notes);
  for (const Spec& s : specs)
    fmt::print("{:{}}  {:9.1f}  {:{}}  {}\n", s.expression, width, flops_of(s.graph) / 1e6, s.note, notes, text_of(interface_of(s.graph).inputs));
}

int list() {
  table("spec", named_specs());
  fmt::print("\n");
  table("model", model_specs());
  fmt::print("\n");
  table("variant", variant_specs());
  return 0;
}

}  // namespace attune::cli
