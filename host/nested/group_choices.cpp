#include "host/nested/group_choices.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <utility>

namespace espalier {
namespace {

// For one group, whether each of the groups inside it is required.
using Chosen = std::vector<bool>;

bool LeavesChoiceItself(const NestedGroup& group) {
  return group.min_groups > 0 && static_cast<std::size_t>(group.min_groups) < group.groups.size();
}

NestedGroup WithoutNames(NestedGroup group) {
  group.name.clear();
  if (group.pods) group.pods->pod_set = -1;
  for (NestedGroup& inner : group.groups) inner = WithoutNames(std::move(inner));
  return group;
}

// For each group inside `group`, the one before it that is equal to it; -1: none is.
std::vector<std::int32_t> EqualBefore(const NestedGroup& group) {
  std::vector<NestedGroup> bare;
  for (const NestedGroup& inner : group.groups) bare.push_back(WithoutNames(inner));
  std::vector<std::int32_t> before(bare.size(), -1);
  for (std::size_t i = 0; i < bare.size(); ++i) {
    for (std::size_t j = i; j-- > 0;) {
      if (bare[j] != bare[i]) continue;
      before[i] = static_cast<std::int32_t>(j);
      break;
    }
  }
  return before;
}

// Adds the choices of `left` groups from position `at` on, in lexicographic order. Returns false
// where there are more than may be tried.
bool AddChoices(const std::vector<std::int32_t>& equal_before, std::size_t at, std::size_t left,
                Chosen& chosen, std::vector<Chosen>& all) {
  if (left == 0) {
    all.push_back(chosen);
    return all.size() < kMostGroupChoices;
  }
  for (std::size_t i = at; i + left <= chosen.size(); ++i) {
    const std::int32_t before = equal_before[i];
    if (before >= 0 && !chosen[static_cast<std::size_t>(before)]) continue;
    chosen[i] = true;
    const bool goes_on = AddChoices(equal_before, i + 1, left - 1, chosen, all);
    chosen[i] = false;
    if (!goes_on) return false;
  }
  return true;
}

// Calls `visit` for each group that leaves a choice, parents first.
void ForEachChoice(NestedGroup& group, const std::function<void(NestedGroup&)>& visit) {
  if (LeavesChoiceItself(group)) visit(group);
  for (NestedGroup& inner : group.groups) ForEachChoice(inner, visit);
}

void Settle(NestedGroup& group) {
  group.min_groups = 0;
  for (NestedGroup& inner : group.groups) Settle(inner);
}

}  // namespace

bool LeavesChoice(const NestedGroup& root) {
  return LeavesChoiceItself(root) || std::ranges::any_of(root.groups, LeavesChoice);
}

GroupChoices::GroupChoices(const NestedGroup& root) : root_(root) {
  NestedGroup tree = root;
  ForEachChoice(tree, [&](NestedGroup& group) {
    std::vector<Chosen>& own = of_groups_.emplace_back();
    Chosen chosen(group.groups.size());
    const auto least = static_cast<std::size_t>(group.min_groups);
    if (!AddChoices(EqualBefore(group), 0, least, chosen, own)) complete_ = false;
  });
  std::vector<std::size_t> pick(of_groups_.size());
  while (!of_groups_.empty()) {
    if (size() == kMostGroupChoices) {
      complete_ = false;
      return;
    }
    picks_.push_back(pick);
    std::size_t digit = pick.size();
    while (digit > 0 && ++pick[digit - 1] == of_groups_[digit - 1].size()) pick[--digit] = 0;
    if (digit == 0) return;
  }
}

NestedGroup GroupChoices::Tree(std::size_t choice) const {
  NestedGroup tree = root_;
  std::size_t next = 0;
  ForEachChoice(tree, [&](NestedGroup& group) {
    if (choice == 0) return;
    const Chosen& chosen = of_groups_[next][picks_[choice - 1][next]];
    ++next;
    for (std::size_t i = 0; i < group.groups.size(); ++i) {
      if (!chosen[i]) group.groups[i].min_copies = 0;
    }
  });
  Settle(tree);
  return tree;
}

}  // namespace espalier
