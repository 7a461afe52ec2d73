// Placing the pods of one pod set inside a domain and taking them back (R25.6): the changed leaves
// and the counts of every shape of the request follow.
#pragma once

#include <cstdint>

#include "kernels/decisions/changed_leaves.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/descend.hpp"
#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/store_shares.hpp"
#include "kernels/nested/nested_views.hpp"

namespace espalier {

// Returns the ancestor of a domain of `from` at `level`.
ESPALIER_HD inline std::int32_t AncestorAt(const TreeView& tree, std::int32_t domain,
                                           std::int32_t from, std::int32_t level) {
  for (; from > level; --from) domain = tree.parent[domain];
  return domain;
}

// Returns what the leaf counts of a shape are computed from, apart from what is placed.
ESPALIER_HD inline LeafInput LeafInputOf(const NestedSpace& space, const NestedShape& shape) {
  LeafInput input;
  input.capacity = space.capacity;
  input.workers = shape.request;
  input.matches = shape.matches;
  input.domain = {0, space.tree.leaf_count()};
  return input;
}

// Counts `size` leaves of a shape anew, and every domain above them. `leaf(i)` are different from
// each other.
template <class Team, class Leaf>
ESPALIER_HD void CountAnew(Team& team, const NestedSpace& space, const NestedShape& shape,
                           std::int32_t size, const Leaf& leaf) {
  const TreeView& tree = space.tree;
  const SliceRule slice = PodSlices(tree);
  const CountsView counts = CountsOf(shape);
  LeafInput input = LeafInputOf(space, shape);
  for (std::int32_t i = team.rank(); i < size; i += team.size()) {
    const std::int32_t at = leaf(i);
    space.changed.Assume(at, input);
    StoreLeaf(tree, slice, input, counts, at);
  }
  team.sync();
  const std::int32_t first_leaf = tree.LevelBegin(tree.lowest());
  for (std::int32_t level = tree.lowest() - 1; level >= 0; --level) {
    std::int32_t last = -1;
    for (std::int32_t i = 0; i < size; ++i) {  // each domain is one lane's
      const std::int32_t above = AncestorAt(tree, first_leaf + leaf(i), tree.lowest(), level);
      if (above == last || above % team.size() != team.rank()) continue;
      RollUpDomain(tree, slice, counts, level, above);
      last = above;
    }
    team.sync();
  }
}

// Brings the counts of every shape up to date.
template <class Team>
ESPALIER_HD void CountStale(Team& team, const NestedRun& run) {
  const NestedSpace& space = run.space;
  for (std::int32_t s = 0; s < space.shape_count && GoesOn(run); ++s) {
    const NestedShape& shape = space.shapes[s];
    CountAnew(team, space, shape, shape.stale_count,
              [&](std::int32_t i) { return shape.stale[i]; });
  }
}

// Uses up what `size` takes of pods of `shape`, the first of which is take `first` of the run, need
// on their leaves, which differ; with `sign` -1, gives it back.
template <class Team>
ESPALIER_HD ESPALIER_OUT_OF_LINE void ChangeLeaves(Team& team, const NestedRun& run,
                                                   const NestedShape& shape, std::int32_t first,
                                                   std::int32_t size, Amount sign) {
  const NestedSpace& space = run.space;
  for (std::int32_t i = first + team.rank(); i < first + size; i += team.size()) {
    const Share& take = run.takes[i];
    Amount* const row = space.changed.FindOrBegin(take.domain, i);
    for (std::int32_t r = 0; r < shape.request.size; ++r) {
      const std::int32_t column = shape.request.column[r];
      if (column >= 0) row[column] += sign * take.pods * shape.request.amount[r];
    }
    // Takes are undone in the opposite order, so that the first on a leaf is the last one there.
    if (sign < 0 && space.changed.row_of[take.domain] == i) space.changed.row_of[take.domain] = -1;
  }
  team.sync();
  for (std::int32_t s = 0; s < space.shape_count && GoesOn(run); ++s) {
    CountAnew(team, space, space.shapes[s], size,
              [&](std::int32_t i) { return run.takes[first + i].domain; });
  }
}

// Records `size` takes, which follow the first `taken`, for a step, and changes the leaves.
template <class Team>
ESPALIER_HD void EnterTakes(Team& team, const NestedRun& run, std::int32_t step, std::int32_t size,
                            std::int32_t& taken) {
  for (std::int32_t i = team.rank(); i < size; i += team.size()) {
    run.take_step[taken + i] = step;
  }
  ChangeLeaves(team, run, run.space.shapes[run.steps[step].shape], taken, size, 1);
  taken += size;
}

// Undoes all takes after the first `keep`, in whole groups of one step's different leaves.
template <class Team>
ESPALIER_HD ESPALIER_OUT_OF_LINE void TakeBack(Team& team, const NestedRun& run, std::int32_t keep,
                                               std::int32_t& taken) {
  while (taken > keep) {
    const std::int32_t step = run.take_step[taken - 1];
    std::int32_t begin = taken - 1;
    while (begin > keep && run.take_step[begin - 1] == step &&
           run.takes[begin - 1].domain < run.takes[begin].domain) {
      --begin;
    }
    ChangeLeaves(team, run, run.space.shapes[run.steps[step].shape], begin, taken - begin, -1);
    taken = begin;
  }
}

// Returns how many pods of a shape fit into a domain, or into the whole cluster.
template <class Team>
ESPALIER_HD Count RoomFor(Team& team, const NestedSpace& space, std::int32_t shape,
                          std::int32_t level, std::int32_t domain) {
  const StoredCount* pods = space.shapes[shape].pods;
  if (level != kNoLevel) return pods[domain];
  Count mine = 0;
  for (std::int32_t d = space.tree.LevelBegin(0) + team.rank(); d < space.tree.LevelEnd(0);
       d += team.size()) {
    mine += pods[d];
  }
  return team.reduce(mine, Count{0}, PlusCount{});
}

// Places `pods` pods of a pod set, which fit, inside a domain: at every level the fullest children
// first and the last one the tightest (R25.6).
template <class Team>
ESPALIER_HD ESPALIER_OUT_OF_LINE void PlacePods(Team& team, const NestedRun& run, std::int32_t step,
                                                Count pods, std::int32_t level, std::int32_t domain,
                                                std::int32_t& taken) {
  if (pods <= 0) return;
  const TreeView& tree = run.space.tree;
  const CountsView counts = CountsOf(run.space.shapes[run.steps[step].shape]);
  PlacementQuery query;
  query.slice = PodSlices(tree);
  query.pods = pods;
  Choice choice;
  if (level == kNoLevel) {
    level = 0;
    choice = ChooseSeveral(team, tree, counts, query, {tree.LevelBegin(0), tree.LevelEnd(0)},
                           choice, run.workspace);
  } else {
    choice = ChooseOne(team, MakeCandidate(counts, domain), choice, run.workspace);
  }
  const ShareList shares =
      Descend(team, tree, StoredCounts{counts}, query, level, choice.domains, false, run.workspace);
  const std::int32_t size =
      StoreShares(team, tree, shares, run.takes + taken, run.take_capacity - taken);
  team.sync();
  EnterTakes(team, run, step, size, taken);
}

}  // namespace espalier
