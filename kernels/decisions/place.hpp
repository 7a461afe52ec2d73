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

// Evaluates one query. Reads from `counts` the domains from the requested level up, with balanced
// placement all of them; reads everything else from `source`.
template <class Team, class Source>
ESPALIER_HD PlacementWithShares Place(Team& team, const TreeView& tree, const CountsView& counts,
                                      const Source& source, const PlacementQuery& query,
                                      const Workspace& workspace) {
  PlacementWithShares outcome;
  Choice choice;
  CountsView pruned;
  bool balanced = false;
  if (query.balanced) {
    const BalancedStatus status =
        ChooseBalanced(team, tree, counts, query, workspace, choice, pruned);
    if (status == BalancedStatus::kUndefined || status == BalancedStatus::kOutOfStates) {
      outcome.status = status == BalancedStatus::kUndefined ? PlacementStatus::kUndefined
                                                            : PlacementStatus::kOutOfStates;
      return outcome;
    }
    balanced = status == BalancedStatus::kChosen;
  }
  if (!balanced) choice = ChooseLevel(team, tree, counts, query, workspace);
  outcome.status = choice.status;
  outcome.level = choice.level;
  outcome.fit = choice.fit;
  outcome.total = choice.total;
  if (choice.status == PlacementStatus::kDoesNotFit) {
    CountLayerFits(team, tree, counts, source, query.slice, choice.level, outcome.layer_fits);
  }
  if (choice.status != PlacementStatus::kPlaced) return outcome;
  const Source from = balanced ? source.InPlace(pruned) : source;
  outcome.shares =
      Descend(team, tree, from, query, choice.level, choice.domains, balanced, workspace);
  return outcome;
}

// Evaluates the same when all counts are in place.
template <class Team>
ESPALIER_HD PlacementWithShares Place(Team& team, const TreeView& tree, const CountsView& counts,
                                      const PlacementQuery& query, const Workspace& workspace) {
  return Place(team, tree, counts, StoredCounts{counts}, query, workspace);
}

}  // namespace espalier
