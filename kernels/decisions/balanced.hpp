// Balanced placement (section 14): spread the slices evenly over the fewest domains of one set of
// siblings. Works on pruned clones; the rolled-up counts stay untouched (R14.2).
#pragma once

#include <cstdint>

#include "kernels/decisions/balanced_select.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

enum class BalancedStatus : std::int32_t {
  kChosen,
  kNotApplicable,  // the plain path decides (R14.3)
  kUndefined,      // upstream divides by zero (R14.6)
  kOutOfStates,    // workspace.states is too small; run again with more
};

// A threshold with the domains needed at it, and the clone it was found on.
struct BalancedSet {
  Count threshold = 0;  // T
  Count domains = 0;    // cnt
  DomainRange members;
  CountsView counts;  // pruned, valid below the members
};

// The arrays of `storage`, aliased the way `counts` is (R8.5).
ESPALIER_HD inline CountsView CloneView(const CountsView& storage, const CountsView& counts) {
  CountsView view = storage;
  view.affinity = counts.affinity;
  if (counts.slices == counts.pods) {
    view.slices = view.pods;
    view.slices_with_leader = view.pods_with_leader;
  }
  if (counts.leaders == nullptr) {
    view.pods_with_leader = view.pods;
    view.slices_with_leader = view.slices;
    view.leaders = nullptr;
  }
  return view;
}

template <class Team>
ESPALIER_HD void CloneSubtrees(Team& team, const TreeView& tree, const CountsView& from,
                               std::int32_t level, DomainRange members, const CountsView& to) {
  for (std::int32_t l = level; l < tree.level_count; ++l) {
    const DomainRange run = Descendants(tree, members, level, l);
    for (std::int32_t d = run.begin + team.rank(); d < run.end; d += team.size()) {
      to.pods[d] = from.pods[d];
      to.slices[d] = from.slices[d];
      if (from.leaders == nullptr) continue;
      to.pods_with_leader[d] = from.pods_with_leader[d];
      to.slices_with_leader[d] = from.slices_with_leader[d];
      to.leaders[d] = from.leaders[d];
    }
  }
  team.sync();
}

// PRUNE1 (R14.7): below the threshold a domain is cleared, or kept for workers only.
ESPALIER_HD inline void PruneDomain(const TreeView& tree, const CountsView& counts,
                                    std::int32_t level, std::int32_t domain, Count threshold) {
  const bool clear = counts.slices[domain] < threshold;
  const bool no_leader = counts.leaders != nullptr && counts.leaders[domain] > 0 &&
                         counts.slices_with_leader[domain] < threshold;
  if (!clear && !no_leader) return;
  for (std::int32_t l = level; l < tree.level_count; ++l) {
    const DomainRange run = Descendants(tree, {domain, domain + 1}, level, l);
    for (std::int32_t d = run.begin; d < run.end; ++d) {
      if (clear) counts.pods[d] = counts.slices[d] = 0;
      if (counts.leaders == nullptr) continue;
      counts.pods_with_leader[d] = counts.slices_with_leader[d] = 0;
      counts.leaders[d] = 0;
    }
  }
}

// PRUNE (R14.7): children first, then the members on a fresh roll-up without inner layers (R8.7).
template <class Team>
ESPALIER_HD void PruneSet(Team& team, const TreeView& tree, const CountsView& counts,
                          const PlacementQuery& query, DomainRange members, Count threshold) {
  SliceRule slice = query.slice;
  for (Count& size : slice.inner_size) size = 0;
  if (query.level < tree.lowest()) {
    const DomainRange children = Descendants(tree, members, query.level, query.level + 1);
    for (std::int32_t c = children.begin + team.rank(); c < children.end; c += team.size()) {
      PruneDomain(tree, counts, query.level + 1, c, threshold);
    }
    team.sync();
    RollUp(team, tree, slice, counts, query.level, members);
  }
  for (std::int32_t d = members.begin + team.rank(); d < members.end; d += team.size()) {
    PruneDomain(tree, counts, query.level, d, threshold);
  }
  team.sync();
}

// Clones a candidate set, prunes it and counts the members it then needs.
template <class Team>
ESPALIER_HD Greedy PruneAndCount(Team& team, const TreeView& tree, const CountsView& counts,
                                 const PlacementQuery& query, DomainRange members, Count threshold,
                                 const Workspace& workspace, const CountsView& trial) {
  CloneSubtrees(team, tree, counts, query.level, members, trial);
  PruneSet(team, tree, trial, query, members, threshold);
  return FewestDomains(team, trial, members, query, workspace.level);
}

ESPALIER_HD inline Count Smaller(Count a, Count b) { return a < b ? a : b; }

// Tries one candidate set (R14.6 to R14.9); a better one becomes `best`, and its clone is swapped
// with `trial`.
template <class Team>
ESPALIER_HD void TrySet(Team& team, const TreeView& tree, const CountsView& counts,
                        const PlacementQuery& query, DomainRange members,
                        const Workspace& workspace, CountsView& trial, BalancedSet& best) {
  const std::int32_t low_level = query.level < query.slice.level ? query.level + 1 : query.level;
  const DomainRange low = Descendants(tree, members, query.level, low_level);
  const Greedy greedy = FewestDomains(team, counts, low, query, workspace.level);
  if (!greedy.fits) return;
  Count threshold = Smaller(query.slices() / greedy.domains, greedy.last_leader);
  threshold = Smaller(threshold, greedy.last);
  const Count lowered = query.leaders > 0 ? Smaller(threshold, greedy.last_beside) : threshold;
  if (threshold < best.threshold) return;
  // Pruning takes nothing but capacity away, where there are no inner layers: no fewer members will
  // do then, as long as the largest go first.
  if (query.leaders == 0 && query.slice.layer_count <= 1 && counts.affinity == nullptr &&
      threshold == best.threshold) {
    const Greedy unpruned = FewestDomains(team, counts, members, query, workspace.level);
    if (!unpruned.fits || unpruned.domains >= best.domains) return;
  }
  Greedy pruned = PruneAndCount(team, tree, counts, query, members, threshold, workspace, trial);
  if (!pruned.fits && lowered < threshold && lowered > 0 && lowered >= best.threshold) {
    threshold = lowered;
    pruned = PruneAndCount(team, tree, counts, query, members, threshold, workspace, trial);
  }
  if (!pruned.fits) return;
  const bool fewer = threshold == best.threshold && pruned.domains < best.domains;
  if (threshold <= best.threshold && !fewer) return;
  const CountsView kept = trial;
  trial = best.counts;
  best = {threshold, pruned.domains, members, kept};
}

// PLACE (R14.16, R14.17): every domain of `chosen` gets the threshold, the first ones what is left.
template <class Team>
ESPALIER_HD bool SpreadEvenly(Team& team, const PlacementQuery& query, Count threshold,
                              const CandidateList& chosen) {
  Count extra = query.slices() - threshold * chosen.size;
  if (extra < 0) return false;  // reason B of R14.18
  team.sort(chosen.items, chosen.size, LeaderOrder{});
  Count leaders = query.leaders;
  for (std::int32_t i = 0; i < chosen.size; ++i) {
    Candidate domain = chosen[i];
    Count more = 0;
    if (leaders > 0) {
      more = Smaller(domain.slices_with_leader - threshold, extra);
      domain.leaders = 1;
      --leaders;
    } else {
      if (extra > 0) more = Smaller(domain.slices - threshold, extra);
      domain.leaders = 0;
    }
    domain.slices = domain.slices_with_leader = threshold + more;
    domain.pods = domain.slices * query.slice.size;
    domain.pods_with_leader = domain.pods - domain.leaders;
    extra -= more;
    team.sync();
    if (team.rank() == 0) chosen[i] = domain;
  }
  team.sync();
  return extra <= 0 && leaders <= 0;  // else reason C of R14.18
}

// SELECT on the listed domains in the order `less`: the greedy count first, then the programme.
template <class Team, class Less>
ESPALIER_HD SelectStatus SelectInOrder(Team& team, const CandidateList& list,
                                       const PlacementQuery& query, Less less,
                                       const Workspace& workspace, CandidateList& chosen) {
  const Greedy greedy = FewestDomains(team, list, query);
  if (!greedy.fits) return SelectStatus::kNone;
  team.sort(list.items, list.size, less);
  chosen.size = static_cast<std::int32_t>(greedy.domains);
  return SelectDomains(team, list, chosen.size, query, workspace, chosen.items);
}

// The final step on the best set (R14.11).
template <class Team>
ESPALIER_HD BalancedStatus PlaceOnBest(Team& team, const TreeView& tree,
                                       const PlacementQuery& query, const BalancedSet& best,
                                       const Workspace& workspace, Choice& choice) {
  CandidateList list = ListDomains(team, best.counts, best.members, workspace.level);
  CandidateList chosen{workspace.chosen, 0};
  choice.level = query.level;
  if (query.level < query.slice.level) {
    ChildEntropies(team, tree, best.counts, best.members, query.level, workspace.entropy,
                   workspace.terms);
    const EntropyOrder order{workspace.entropy, best.members.begin};
    const SelectStatus parents = SelectInOrder(team, list, query, order, workspace, chosen);
    if (parents == SelectStatus::kOutOfStates) return BalancedStatus::kOutOfStates;
    if (parents == SelectStatus::kNone) return BalancedStatus::kNotApplicable;
    list.size = 0;
    for (std::int32_t i = 0; i < chosen.size; ++i) {
      const std::int32_t parent = chosen[i].domain;
      const DomainRange children{tree.ChildBegin(parent), tree.ChildBegin(parent + 1)};
      list.size += ListDomains(team, best.counts, children, list.items + list.size).size;
    }
    choice.level = query.level + 1;
  }
  const SelectStatus status = SelectInOrder(team, list, query, PathOrder{}, workspace, chosen);
  if (status == SelectStatus::kOutOfStates) return BalancedStatus::kOutOfStates;
  if (status == SelectStatus::kNone) return BalancedStatus::kNotApplicable;
  if (!SpreadEvenly(team, query, best.threshold, chosen)) return BalancedStatus::kNotApplicable;
  choice.status = ChoiceStatus::kChosen;
  choice.domains = chosen;
  return BalancedStatus::kChosen;
}

// Tries balanced placement for a preferred request (R14.1); on kChosen `choice` holds the set with
// its capacities set to what each domain is to get, and `pruned` the counts to descend on.
template <class Team>
ESPALIER_HD BalancedStatus ChooseBalanced(Team& team, const TreeView& tree,
                                          const CountsView& counts, const PlacementQuery& query,
                                          const Workspace& workspace, Choice& choice,
                                          CountsView& pruned) {
  if (query.required || query.unconstrained || tree.domain_count() == 0) {
    return BalancedStatus::kNotApplicable;
  }
  if (query.slices() == 0 && query.leaders == 0) return BalancedStatus::kUndefined;
  CountsView trial = CloneView(workspace.trial, counts);
  BalancedSet best;
  best.counts = CloneView(workspace.best, counts);
  if (query.level == 0) {
    const DomainRange roots{tree.LevelBegin(0), tree.LevelEnd(0)};
    TrySet(team, tree, counts, query, roots, workspace, trial, best);
  } else {
    const std::int32_t above = query.level - 1;
    for (std::int32_t p = tree.LevelBegin(above); p < tree.LevelEnd(above); ++p) {
      if (query.leaders == 0 && counts.slices[p] < query.slices()) continue;  // cannot fit
      const DomainRange members{tree.ChildBegin(p), tree.ChildBegin(p + 1)};
      TrySet(team, tree, counts, query, members, workspace, trial, best);
    }
  }
  if (best.threshold == 0) return BalancedStatus::kNotApplicable;
  pruned = best.counts;
  return PlaceOnBest(team, tree, query, best, workspace, choice);
}

}  // namespace espalier
