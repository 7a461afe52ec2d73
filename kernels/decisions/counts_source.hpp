// Sources of the counts that decisions read after the choice of the level.
#pragma once

#include <cstdint>

#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/macros.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A source of counts that are all in place. Other sources count leaves only when a decision reaches
// them.
struct StoredCounts {
  CountsView counts;

  // Returns the counts of a run of domains of `level`, in place for every lane when this returns
  // and until the evaluation ends. The view is the same for every run of a level.
  template <class Team>
  ESPALIER_HD const CountsView& Of(Team& /*team*/, std::int32_t /*level*/,
                                   DomainRange /*domains*/) const {
    return counts;
  }
  // Returns the same for the children of all `parents`, domains of `level`.
  template <class Team>
  ESPALIER_HD const CountsView& OfChildren(Team& /*team*/, const TreeView& /*tree*/,
                                           std::int32_t /*level*/,
                                           const ShareList& /*parents*/) const {
    return counts;
  }
  // Returns a source like this one of other counts, all of which are in place.
  ESPALIER_HD StoredCounts InPlace(const CountsView& others) const { return {others}; }
};

// A source that has the counts above the leaves in place and counts leaves on the team that reaches
// them.
struct ReachedLeaves {
  const TreeView& tree;
  const SliceRule& slice;
  const LeafInput* input = nullptr;  // null: leaves are stored
  CountsView stored;
  CountsView leaves;  // by domain id, memory of the team

  template <class Team>
  ESPALIER_HD const CountsView& Of(Team& team, std::int32_t level, DomainRange domains) const {
    if (level < tree.lowest() || input == nullptr) return stored;
    CountRun(team, domains, 0);
    team.sync();
    return leaves;
  }
  template <class Team>
  ESPALIER_HD const CountsView& OfChildren(Team& team, const TreeView& /*tree*/, std::int32_t level,
                                           const ShareList& parents) const {
    if (level + 1 < tree.lowest() || input == nullptr) return stored;
    std::int32_t counted = 0;
    for (std::int32_t i = 0; i < parents.size; ++i) {
      const DomainRange children = ChildrenOf(tree, parents[i].domain);
      CountRun(team, children, counted % team.size());
      counted += children.size();
    }
    team.sync();
    return leaves;
  }
  ESPALIER_HD ReachedLeaves InPlace(const CountsView& others) const {
    return {tree, slice, nullptr, others, {}};
  }

 private:
  // Counts a run of leaves, the first of them on lane `first_lane`, so that lanes that have nothing
  // to do in one run have something in the next.
  template <class Team>
  ESPALIER_HD void CountRun(Team& team, DomainRange domains, std::int32_t first_lane) const {
    const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
    const std::int32_t behind = team.rank() - first_lane;
    for (std::int32_t d = domains.begin + (behind < 0 ? behind + team.size() : behind);
         d < domains.end; d += team.size()) {
      StoreLeaf(tree, slice, *input, leaves, d - first_leaf);
    }
  }
};

// Appends the children of a domain, whose counts are `counts`, to `list`; a barrier must follow
// before they are read.
template <class Team>
ESPALIER_HD void AppendChildren(Team& team, const TreeView& tree, const CountsView& counts,
                                std::int32_t domain, CandidateList& list) {
  const DomainRange children = ChildrenOf(tree, domain);
  for (std::int32_t i = team.rank(); i < children.size(); i += team.size()) {
    list[list.size + i] = MakeCandidate(counts, children.begin + i);
  }
  list.size += children.size();
}

}  // namespace espalier
