#include "schedule/choice.h"

#include <fmt/format.h>

#include "schedule/planners.h"
#include "schedule/ranking.h"

namespace attune {
namespace {

template <class Planner>
std::vector<Ranked> ranked(Planner planner) {
  std::vector<Ranked> r;
  for (const auto& [account, choice] : ranking(planner)) r.push_back({choice, double(account.total()) / 1000});
  return r;
}

std::string text(Tile t) { return fmt::format("{}x{}", t.rows, t.vectors); }

}  // namespace

std::string text_of(const Choice& c) {
  if (const auto* p = std::get_if<ContractChoice>(&c)) return text(p->tile);
  if (const auto* s = std::get_if<StreamChoice>(&c)) return fmt::format("scores {}, values {}, {} columns", text(s->scores), text(s->values), s->column_block);
  return "-";
}

std::vector<Ranked> ranked_choices(const Region& r, const Isa& isa) {
  if (const auto* c = std::get_if<Contract>(&r.work)) return ranked(ContractPlanner(*c, isa));
  if (const auto* s = std::get_if<Stream>(&r.work)) return ranked(StreamPlanner(*s, isa));
  return {};
}

}  // namespace attune
