// The order that the model gives to a planner's choices.
#pragma once
#include <algorithm>
#include <utility>
#include <vector>

#include "schedule/account.h"
#include "schedule/choice.h"

namespace attune {

// Vectors of rows in a block, of which three are as good as fewer: what a block leaves to share out, and needs of
// memory.
inline long height(const ContractChoice&) { return 0; }
inline long height(const StreamChoice& c) { return std::max(3, c.scores.vectors); }

// Cheapest first, but for the very first: the model is no finer than a hundredth, and of choices that differ by
// less the one with the lowest blocks is taken.
template <class Planner>
auto ranking(Planner& planner) {
  std::vector<std::pair<Account, typename decltype(planner.choices())::value_type>> all;
  for (const auto& c : planner.choices()) all.emplace_back(planner.account(c), c);
  std::stable_sort(all.begin(), all.end(), [](const auto& a, const auto& b) { return a.first.total() < b.first.total(); });
  const auto end = std::find_if(all.begin(), all.end(), [&](const auto& a) { return a.first.total() > all[0].first.total() + all[0].first.total() / 100; });
  const auto first = std::min_element(all.begin(), end, [](const auto& a, const auto& b) { return height(a.second) < height(b.second); });
  if (first != end) std::rotate(all.begin(), first, first + 1);
  return all;
}

}  // namespace attune
