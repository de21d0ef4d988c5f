#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

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

static nlohmann::ordered_json json_of(const std::vector<Argument>& arguments) {
  nlohmann::ordered_json all = nlohmann::ordered_json::array();
  for (const Argument& a : arguments) all.push_back({{"name", a.name}, {"shape", std::vector<long>(a.dims.d.begin(), a.dims.d.begin() + a.dims.rank)}, {"element", a.integers ? "int32" : "float32"}});
  return all;
}

static void add(nlohmann::ordered_json& all, const char* kind, const std::vector<Spec>& specs) {
  for (const Spec& s : specs) {
    const Interface i = interface_of(s.graph);
    all.push_back({{"spec", s.expression}, {"kind", kind}, {"flops", flops_of(s.graph)}, {"what", s.note}, {"inputs", json_of(i.inputs)}, {"outputs", json_of(i.outputs)}, {"weights", json_of(i.weights)}});
  }
}

int list(JsonOutput& json) {
  table("spec", named_specs());
  fmt::print("\n");
  table("model", model_specs());
  fmt::print("\n");
  table("variant", variant_specs());
  if (json.wanted()) {
    nlohmann::ordered_json all = nlohmann::ordered_json::array();
    add(all, "textbook", named_specs());
    add(all, "model", model_specs());
    add(all, "variant", variant_specs());
    json.write(all);
  }
  return 0;
}

}  // namespace attune::cli
