// The zoo is compiled here and nowhere else.
#include <zoo/zoo.h>

#include <boost/hana/for_each.hpp>

#include "cli/specs.h"

namespace attune::cli {

const std::vector<Spec>& named_specs() {
  static const std::vector<Spec> specs = [] {
    std::vector<Spec> all;
    hana::for_each(zoo::all, [&](const auto& e) {
      all.push_back({canonical(std::string(e.expression)), std::string(e.note), "", graph_of(e.spec)});
      all.back().source = spec_source("", all.back().expression);
    });
    return all;
  }();
  return specs;
}

}  // namespace attune::cli
