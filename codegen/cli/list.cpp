#include <fmt/format.h>

#include <algorithm>

#include "cli/commands.h"

namespace attune::cli {

int list() {
  std::size_t width = 0, notes = 0;
  for (const Spec& s : named_specs()) {
    width = std::max(width, s.expression.size());
    notes = std::max(notes, s.note.size());
  }
  fmt::print("{:{}}  {:>9}  {:{}}  inputs\n", "spec", width, "MFLOP", "what it is", notes);
  for (const Spec& s : named_specs())
    fmt::print("{:{}}  {:9.1f}  {:{}}  {}\n", s.expression, width, flops_of(s.graph) / 1e6, s.note, notes, text_of(interface_of(s.graph).inputs));
  return 0;
}

}  // namespace attune::cli
