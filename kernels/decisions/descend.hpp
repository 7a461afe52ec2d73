// Descent from the chosen level to the leaves (section 13).
#pragma once

#include <cstdint>

#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/take.hpp"
#include "kernels/decisions/take_pooled.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Descends one level of the pooled phase (R13.2): the children of all chosen domains compete
// together; how much each parent had been given is forgotten.
template <class Team, class Source>
ESPALIER_HD void DescendPooled(Team& team, const TreeView& tree, const Source& source,
                               const PlacementQuery& query, std::int32_t level,
                               const ShareList& current, const Workspace& workspace,
                               ShareList& next) {
  const CountsView& counts = source.OfChildren(team, tree, level, current);
  if (TakePooled(team, tree, counts, query, current, workspace, next)) return;
  CandidateList list{workspace.level, 0};
  for (std::int32_t i = 0; i < current.size; ++i) {
    AppendChildren(team, tree, counts, current[i].domain, list);
  }
  team.sync();
  team.sort(list.items, list.size, PlainOrder{query.least_free});
  Take(team, list,
       {query.pods, query.leaders, query.slice.size, Unit::kSlices, query.least_free,
        query.affinity},
       next);
}

// Returns the pods per unit when pods of `level` are handed to level + 1 (R13.4).
ESPALIER_HD inline Count DescentSize(const PlacementQuery& query, std::int32_t level) {
  if (level < query.slice.level) return query.slice.size;  // only after balanced placement
  const Count inner = query.slice.inner_size[level + 1];
  return inner > 0 ? inner : 1;
}

// Descends one level of the per-parent phase (R13.3): each parent hands what it got to its own
// children.
template <class Team, class Source>
ESPALIER_HD void DescendPerParent(Team& team, const TreeView& tree, const Source& source,
                                  const PlacementQuery& query, std::int32_t level,
                                  const ShareList& current, const Workspace& workspace,
                                  ShareList& next) {
  const Count size = DescentSize(query, level);
  const Unit unit = size > 1 ? Unit::kSlices : Unit::kPods;
  const CountsView& counts = source.OfChildren(team, tree, level, current);
  for (std::int32_t i = 0; i < current.size; ++i) {
    const Share parent = current[i];
    if (parent.pods == 0 && parent.leaders == 0) continue;  // its children would get nothing
    CandidateList list{workspace.level, 0};
    AppendChildren(team, tree, counts, parent.domain, list);
    team.sync();
    team.sort(list.items, list.size, PlainOrder{query.least_free});
    if (unit == Unit::kSlices) {  // R13.5: only after sorting
      for (std::int32_t c = team.rank(); c < list.size; c += team.size()) {
        list[c].slices = list[c].pods / size;
        list[c].slices_with_leader = list[c].pods_with_leader / size;
      }
      team.sync();
    }
    Take(team, list, {parent.pods, parent.leaders, size, unit, query.least_free, query.affinity},
         next);
  }
}

// Hands the request to the chosen set and on down to the leaves. After balanced placement the
// pooled phase is skipped (R13.2). The result lies in workspace.current or workspace.next; shares
// of zero pods and no leader may be among them.
template <class Team, class Source>
ESPALIER_HD ShareList Descend(Team& team, const TreeView& tree, const Source& source,
                              const PlacementQuery& query, std::int32_t level,
                              const CandidateList& chosen, bool balanced,
                              const Workspace& workspace) {
  ShareList current{workspace.current, 0};
  ShareList next{workspace.next, 0};
  Take(team, chosen,
       {query.pods, query.leaders, query.slice.size, Unit::kSlices, query.least_free,
        query.affinity},
       current);
  for (; level < tree.lowest(); ++level) {
    next.size = 0;
    if (!balanced && level < query.slice.level) {
      DescendPooled(team, tree, source, query, level, current, workspace, next);
    } else {
      DescendPerParent(team, tree, source, query, level, current, workspace, next);
    }
    const ShareList done = current;
    current = next;
    next = done;
  }
  return current;
}

}  // namespace espalier
