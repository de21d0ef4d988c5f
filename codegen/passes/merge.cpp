#include <algorithm>

#include "passes/fuse.h"

namespace attune {

// Whether the region may run as early as region `first`: what its epilogue reads exists by then.
static bool ready(const Program& p, const Contract& c, std::size_t first, std::size_t own) {
  const auto written_late = [&](int buffer) {
    for (std::size_t r = first; r < own; ++r) {
      const bool writes = std::visit(
          [&](const auto& w) {
            const auto here = [&](const auto& x) { return x.out.buffer == buffer; };
            if constexpr (requires { w.segments; }) return std::any_of(w.segments.begin(), w.segments.end(), here);
            else if constexpr (requires { w.values; }) return here(w) || std::any_of(w.values.begin(), w.values.end(), here);
            else return here(w);
          },
          p.regions[r].work);
      if (writes) return true;
    }
    return false;
  };
  for (const Segment& s : c.segments) {
    if (written_late(s.out.buffer)) return false;
    for (const Expression* e : {&s.epilogue, s.finish ? &s.finish->value : nullptr})
      if (e && std::any_of(e->tensors.begin(), e->tensors.end(), [&](const View& v) { return written_late(v.buffer); })) return false;
  }
  return !written_late(c.a.buffer);
}

void merge_contractions(Program& p) {
  for (std::size_t i = 0; i < p.regions.size(); ++i) {
    auto* into = std::get_if<Contract>(&p.regions[i].work);
    if (!into) continue;
    for (std::size_t j = i + 1; j < p.regions.size();) {
      auto* c = std::get_if<Contract>(&p.regions[j].work);
      if (c && c->a == into->a && c->outer0 == into->outer0 && c->outer1 == into->outer1 && c->depth == into->depth && ready(p, *c, i, j)) {
        into->segments.insert(into->segments.end(), c->segments.begin(), c->segments.end());
        p.regions[i].title += "_" + c->segments[0].weight;
        p.regions.erase(p.regions.begin() + std::ptrdiff_t(j));
      } else {
        ++j;
      }
    }
  }
}

}  // namespace attune
