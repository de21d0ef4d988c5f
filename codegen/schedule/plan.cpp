#include "schedule/plan.h"

#include <fmt/format.h>

#include <algorithm>
#include <stdexcept>

#include "schedule/planners.h"
#include "schedule/ranking.h"

namespace attune {

static long local_floats(const ContractPlan&) { return 0; }
static long local_floats(const StreamPlan& p) { return p.local_floats; }
static long local_floats(std::monostate) { return 0; }

// Made by pack_weights: no part of a call.
static bool made_once(const Program& p, const Region& r) {
  const auto* angles = std::get_if<Angles>(&r.work);
  return std::holds_alternative<Spread>(r.work) || (angles && p.buffers[std::size_t(angles->out.buffer)].kind == Buffer::Kind::table);
}

// The model's first, or the one that is given; with what it takes.
template <class Planner>
static auto planned(Planner planner, const Region& r, const Choice& given) {
  using Kind = typename decltype(planner.choices())::value_type;
  if (std::holds_alternative<std::monostate>(given)) {
    const auto [account, choice] = ranking(planner).at(0);
    return std::pair(planner.plan(choice), account);
  }
  const auto all = planner.choices();
  const auto* c = std::get_if<Kind>(&given);
  if (!c || std::find(all.begin(), all.end(), *c) == all.end()) throw std::invalid_argument(fmt::format("\"{}\" is no schedule for {}", text_of(given), r.title));
  return std::pair(planner.plan(*c), planner.account(*c));
}

Schedule schedule(const Program& program, const Isa& isa, const Choices& given_choices) {
  Schedule s;
  s.isa = &isa;
  s.buffer_offset.assign(program.buffers.size(), 0);
  for (std::size_t i = 0; i < program.buffers.size(); ++i) {
    const Buffer& b = program.buffers[i];
    if (b.kind != Buffer::Kind::scratch && b.kind != Buffer::Kind::weight && b.kind != Buffer::Kind::table) continue;
    long& end = b.kind == Buffer::Kind::scratch ? s.workspace_floats : s.packed_floats;
    s.buffer_offset[i] = end;
    end += aligned_floats(b.floats);
  }
  for (std::size_t i = 0; i < program.regions.size(); ++i) {
    const Region& r = program.regions[i];
    const Choice given = i < given_choices.size() ? given_choices[i] : Choice{};
    if (const auto* c = std::get_if<Contract>(&r.work)) {
      auto [p, account] = planned(ContractPlanner(*c, isa), r, given);
      for (auto& part : p.parts) part.packed_offset += s.packed_floats;
      for (const auto& part : p.parts) s.packed_floats += part.packed_floats;
      s.regions.push_back(std::move(p));
      s.accounts.push_back(account);
    } else if (const auto* st = std::get_if<Stream>(&r.work)) {
      auto [p, account] = planned(StreamPlanner(*st, isa), r, given);
      s.regions.push_back(std::move(p));
      s.accounts.push_back(account);
    } else {
      s.regions.push_back(std::monostate{});
      s.accounts.push_back(made_once(program, r) ? std::optional<Account>(Account{}) : std::nullopt);
    }
    std::visit([&](const auto& p) { s.local_floats = std::max(s.local_floats, aligned_floats(local_floats(p))); }, s.regions.back());
  }
  return s;
}

}  // namespace attune
