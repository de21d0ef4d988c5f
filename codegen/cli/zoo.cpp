// The zoo is compiled here and nowhere else.
#include <zoo/zoo.h>

#include <boost/hana/for_each.hpp>

#include "cli/specs.h"

namespace attune::cli {

static std::vector<Spec> specs_of(const auto& entries) {
  std::vector<Spec> all;
  hana::for_each(entries, [&](const auto& e) {
    all.push_back({canonical(std::string(e.expression)), std::string(e.note), "", graph_of(e.spec)});
    all.back().source = spec_source("", all.back().expression);
  });
  return all;
}

const std::vector<Spec>& named_specs() {
  static const std::vector<Spec> specs = specs_of(zoo::all);
  return specs;
}

const std::vector<Spec>& model_specs() {
  static const std::vector<Spec> specs = specs_of(zoo::models);
  return specs;
}

const std::vector<Spec>& variant_specs() {
  static const std::vector<Spec> specs = specs_of(zoo::variants);
  return specs;
}

}  // namespace attune::cli
