// Sources of the counts that decisions read after the choice of the level.
#pragma once

#include <cstdint>

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
};

// Appends the children of a domain of `level` to `list`; a barrier must follow before they are
// read.
template <class Team, class Source>
ESPALIER_HD void AppendChildren(Team& team, const TreeView& tree, const Source& source,
                                std::int32_t level, std::int32_t domain, CandidateList& list) {
  const DomainRange children = ChildrenOf(tree, domain);
  const CountsView& counts = source.Of(team, level + 1, children);
  for (std::int32_t i = team.rank(); i < children.size(); i += team.size()) {
    list[list.size + i] = MakeCandidate(counts, children.begin + i);
  }
  list.size += children.size();
}

}  // namespace espalier
