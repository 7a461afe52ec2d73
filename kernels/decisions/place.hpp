// Evaluates one request: turns rolled-up counts into shares of the leaves or a reason (sections 10
// to 14).
#pragma once

#include <cstdint>

#include "kernels/decisions/balanced.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/descend.hpp"
#include "kernels/decisions/exclusions.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct PlacementWithShares : PlacementOutcome {
  ShareList shares;  // in workspace memory, unordered, zero shares included
};

// Evaluates one query that is not balanced. Reads from `counts` the domains from the requested
// level up; reads everything else from `source`.
template <class Team, class Source>
ESPALIER_HD PlacementWithShares PlaceUnbalanced(Team& team, const TreeView& tree,
                                                const CountsView& counts, const Source& source,
                                                const PlacementQuery& query,
                                                const Workspace& workspace) {
  PlacementWithShares outcome;
  const Choice choice = ChooseLevel(team, tree, counts, query, workspace);
  outcome.status = choice.status;
  outcome.level = choice.level;
  outcome.fit = choice.fit;
  outcome.total = choice.total;
  if (choice.status == PlacementStatus::kDoesNotFit) {
    CountLayerFits(team, tree, counts, source, query.slice, choice.level, outcome.layer_fits);
  }
  if (choice.status != PlacementStatus::kPlaced) return outcome;
  outcome.shares =
      Descend(team, tree, source, query, choice.level, choice.domains, false, workspace);
  return outcome;
}

// Evaluates one query. Reads the same, with balanced placement all domains from `counts`.
template <class Team, class Source>
ESPALIER_HD PlacementWithShares Place(Team& team, const TreeView& tree, const CountsView& counts,
                                      const Source& source, const PlacementQuery& query,
                                      const Workspace& workspace) {
  if (query.balanced) {
    PlacementWithShares outcome;
    Choice choice;
    CountsView pruned;
    const BalancedStatus status =
        ChooseBalanced(team, tree, counts, query, workspace, choice, pruned);
    if (status == BalancedStatus::kUndefined || status == BalancedStatus::kOutOfStates) {
      outcome.status = status == BalancedStatus::kUndefined ? PlacementStatus::kUndefined
                                                            : PlacementStatus::kOutOfStates;
      return outcome;
    }
    if (status == BalancedStatus::kChosen) {
      outcome.status = choice.status;
      outcome.level = choice.level;
      outcome.fit = choice.fit;
      outcome.total = choice.total;
      outcome.shares = Descend(team, tree, source.InPlace(pruned), query, choice.level,
                               choice.domains, true, workspace);
      return outcome;
    }
  }
  return PlaceUnbalanced(team, tree, counts, source, query, workspace);
}

// Evaluates the same when all counts are in place.
template <class Team>
ESPALIER_HD PlacementWithShares Place(Team& team, const TreeView& tree, const CountsView& counts,
                                      const PlacementQuery& query, const Workspace& workspace) {
  return Place(team, tree, counts, StoredCounts{counts}, query, workspace);
}

}  // namespace espalier
