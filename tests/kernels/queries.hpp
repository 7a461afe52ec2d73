// Placement queries written down by hand, and Place() with an answer that compares.
#pragma once

#include <vector>

#include "kernels/decisions/place.hpp"
#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier {

// Returns a query that prefers `level`: the plain request that the others are made from.
inline PlacementQuery Preferred(const TreeView& tree, std::int32_t level, Count pods,
                                const std::vector<Layer>& layers = {}) {
  PlacementQuery query;
  query.level = level;
  query.slice = Slices(tree, layers);
  query.pods = pods;
  return query;
}

inline PlacementQuery Required(const TreeView& tree, std::int32_t level, Count pods,
                               const std::vector<Layer>& layers = {}) {
  PlacementQuery query = Preferred(tree, level, pods, layers);
  query.required = true;
  return query;
}

// Returns an unconstrained query, or a slice-only one when there are layers; least-free-capacity
// (R6.4, R9.6).
inline PlacementQuery Unconstrained(const TreeView& tree, Count pods,
                                    const std::vector<Layer>& layers = {}) {
  PlacementQuery query = Preferred(tree, layers.empty() ? tree.lowest() : 0, pods, layers);
  query.unconstrained = true;
  query.least_free = true;
  return query;
}

inline PlacementQuery WithLeader(PlacementQuery query) {
  query.leaders = 1;
  return query;
}
inline PlacementQuery Balanced(PlacementQuery query) {
  query.balanced = true;
  return query;
}
inline PlacementQuery WithAffinity(PlacementQuery query) {
  query.affinity = true;
  return query;
}

// An outcome that owns what it holds: pods per leaf in path order, the leader's leaf or -1.
struct Placed {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;
  Count fit = 0;
  Count total = 0;
  std::vector<Count> layer_fits;
  std::vector<Count> pods;
  std::int32_t leader = -1;

  bool operator==(const Placed&) const = default;
};

inline Placed PlaceOn(const TeamRunner& runner, const TreeView& tree, const CountsView& counts,
                      const PlacementQuery& query, std::int32_t states = 10'000) {
  HandWorkspace workspace(tree, states);
  return runner.Ask([&](auto& team) {
    const PlacementWithShares outcome = Place(team, tree, counts, query, workspace.view());
    Placed placed{outcome.status, outcome.level, outcome.fit, outcome.total, {}, {}, -1};
    placed.layer_fits.assign(outcome.layer_fits, outcome.layer_fits + query.slice.layer_count);
    placed.pods.assign(static_cast<std::size_t>(tree.leaf_count()), 0);
    for (std::int32_t i = 0; i < outcome.shares.size; ++i) {
      const Share& share = outcome.shares[i];
      const std::int32_t leaf = share.domain - tree.LevelBegin(tree.lowest());
      placed.pods[static_cast<std::size_t>(leaf)] += share.pods;
      if (share.leaders > 0) placed.leader = leaf;
    }
    return placed;
  });
}

inline Placed PlaceOn(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                      const PlacementQuery& query, std::int32_t states = 10'000) {
  return PlaceOn(runner, tree, counts.view(), query, states);
}

}  // namespace espalier
