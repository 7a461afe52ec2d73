// TAKE over the children of several domains (R13.2), without putting them in order first: which
// domains are taken, and with how much, follows from how many domains hold how many pods.
#pragma once

#include <cstdint>

#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/select_taken.hpp"
#include "kernels/decisions/take_plan.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A run of the children of several domains, and which domains they are.
struct ChildRun : CountRun {
  std::int32_t first = 0;

  ESPALIER_HD std::int32_t domain(std::int32_t i) const { return first + i; }
};

// The children of several domains where their counts lie: a run per domain, which suits one lane.
struct ChildrenInPlace {
  using Run = CountRun;

  const TreeView& tree;
  const ShareList& parents;
  const StoredCount* pods = nullptr;

  template <class Visit>
  ESPALIER_HD void ForEachRun(const Visit& visit) const {
    for (std::int32_t p = 0; p < parents.size; ++p) {
      const DomainRange children = ChildrenOf(tree, parents[p].domain);
      visit(ChildRun{{pods + children.begin, children.size()}, children.begin});
    }
  }
};

// The same in a list: one run, which many lanes can share evenly.
struct ListedChildren {
  using Run = ListedChildren;

  CandidateList list;

  ESPALIER_HD std::int32_t size() const { return list.size; }
  ESPALIER_HD StoredCount operator[](std::int32_t i) const {
    return static_cast<StoredCount>(list[i].pods);
  }
  ESPALIER_HD std::int32_t domain(std::int32_t i) const { return list[i].domain; }
  template <class Visit>
  ESPALIER_HD void ForEachRun(const Visit& visit) const {
    visit(*this);
  }
};

// Hands the pods out among children that are in the order of their ids.
template <class Team, class Children>
ESPALIER_HD void TakeFromChildren(Team& team, const Children& children, const PlacementQuery& query,
                                  ShareList& next) {
  const DomainCounts by_child(team, children);
  const TakePlan plan = PlanTake(by_child, query.pods, query.least_free);
  if (!plan.suffices) return;  // R12.4
  const StoredCount last = LastTaken(by_child, plan, query.least_free);
  // The rest goes to the first that holds `last` and is not taken wholly.
  const bool last_at_bound = last == plan.bound;
  TakingState state{next.size, plan.at_bound + (last_at_bound ? 1 : 0), last_at_bound ? 0 : 1};
  children.ForEachRun([&](const auto& run) {
    const auto taking_of = [&](std::int32_t i) {
      const StoredCount held = run[i];
      if (held >= plan.least_whole && held <= plan.most_whole) return Taking::kWholly;
      if (held == plan.bound) return Taking::kAtBound;
      return held == last ? Taking::kLast : Taking::kNot;
    };
    const auto skip = [](std::int32_t i) { return i; };
    const auto take = [&](std::int32_t i, Taking taking, const TakingState& now) {
      const bool rest = taking == Taking::kLast ||
                        (taking == Taking::kAtBound && last_at_bound && now.at_bound == 0);
      next[now.taken] = {run.domain(i), 0, rest ? plan.rest : Count{run[i]}};
    };
    SelectTaken(team, run.size(), taking_of, skip, state, take);
  });
  next.size = state.taken;
  team.sync();
}

// Puts parents in the order of their ids.
template <class Team>
ESPALIER_HD void SortByDomain(Team& team, const ShareList& parents) {
  const auto by_domain = [](const Share& a, const Share& b) { return a.domain < b.domain; };
  bool sorted = true;
  for (std::int32_t i = team.rank() + 1; i < parents.size; i += team.size()) {
    sorted = sorted && by_domain(parents[i - 1], parents[i]);
  }
  if (team.any(!sorted)) team.sort(parents.items, parents.size, by_domain);
}

// Returns whether it took: for workers alone, one pod a slice, no affinity, when every order is by
// pods, then by id. `counts` are those of the children of `current`, which may be reordered.
template <class Team>
ESPALIER_HD bool TakePooled(Team& team, const TreeView& tree, const CountsView& counts,
                            const PlacementQuery& query, const ShareList& current,
                            const Workspace& workspace, ShareList& next) {
  if (query.leaders > 0 || query.pods == 0) return false;
  if (!counts.IsPlainPodCount() || counts.affinity != nullptr) return false;
  SortByDomain(team, current);
  if constexpr (Team::kOneLane) {
    TakeFromChildren(team, ChildrenInPlace{tree, current, counts.pods}, query, next);
  } else {
    CandidateList list{workspace.level, 0};
    for (std::int32_t i = 0; i < current.size; ++i) {
      AppendChildren(team, tree, counts, current[i].domain, list);
    }
    team.sync();
    TakeFromChildren(team, ListedChildren{list}, query, next);
  }
  return true;
}

}  // namespace espalier
