// Balanced placement (section 14): spread the slices evenly over the fewest domains of one set of
// siblings. Works on pruned clones; the rolled-up counts stay untouched (R14.2).
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/decisions/balanced_select.hpp"
#include "kernels/decisions/choose_level.hpp"
#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/decisions/slice_index.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

// A threshold with the domains needed at it, and the clone it was found on.
struct BalancedSet {
  Count threshold = 0;  // T
  Count domains = 0;    // cnt
  DomainRange members;
  CountsView counts;  // pruned, valid below the members
};

// Returns the arrays of `storage`, aliased the way `counts` is (R8.5).
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

template <class Team, class Value>
ESPALIER_HD void CloneRun(Team& team, const Value* from, DomainRange run, Value* to) {
  for (std::int32_t d = run.begin + team.rank(); d < run.end; d += team.size()) to[d] = from[d];
}

template <class Team>
ESPALIER_HD void CloneSubtrees(Team& team, const TreeView& tree, const CountsView& from,
                               std::int32_t level, DomainRange members, const CountsView& to) {
  for (std::int32_t l = level; l < tree.level_count; ++l) {
    const DomainRange run = Descendants(tree, members, level, l);
    CloneRun(team, from.pods, run, to.pods);
    if (to.slices != to.pods) CloneRun(team, from.slices, run, to.slices);
    if (from.leaders == nullptr) continue;
    CloneRun(team, from.pods_with_leader, run, to.pods_with_leader);
    CloneRun(team, from.slices_with_leader, run, to.slices_with_leader);
    CloneRun(team, from.leaders, run, to.leaders);
  }
  team.sync();
}

// Prunes one domain (PRUNE1, R14.7): below the threshold it is cleared, or kept for workers only.
ESPALIER_HD inline void PruneDomain(const TreeView& tree, const CountsView& counts,
                                    std::int32_t level, std::int32_t domain, Count threshold) {
  const bool clear = counts.slices[domain] < threshold;
  const bool no_leader = counts.leaders != nullptr && counts.leaders[domain] > 0 &&
                         counts.slices_with_leader[domain] < threshold;
  if (!clear && !no_leader) return;
  DomainRange run{domain, domain + 1};
  while (true) {
    for (std::int32_t d = run.begin; d < run.end; ++d) {
      if (clear) counts.pods[d] = counts.slices[d] = 0;
      if (counts.leaders == nullptr) continue;
      counts.pods_with_leader[d] = counts.slices_with_leader[d] = 0;
      counts.leaders[d] = 0;
    }
    if (level == tree.lowest()) return;
    run = Descendants(tree, run, level, level + 1);
    ++level;
  }
}

// Prunes a run of one level, as PRUNE1 does.
template <class Team>
ESPALIER_HD void PruneDomains(Team& team, const TreeView& tree, const CountsView& counts,
                              std::int32_t level, DomainRange domains, Count threshold) {
  if (level == tree.lowest() && counts.IsPlainPodCount() && threshold <= kMaxStored) {
    StoredCount* pods = counts.pods;
    const auto least = static_cast<StoredCount>(threshold);
    for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
      pods[d] = pods[d] < least ? 0 : pods[d];
    }
  } else {
    for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
      PruneDomain(tree, counts, level, d, threshold);
    }
  }
  team.sync();
}

// Prunes a set (PRUNE, R14.7): children first, then the members on a fresh roll-up without inner
// layers (R8.7).
template <class Team>
ESPALIER_HD void PruneSet(Team& team, const TreeView& tree, const CountsView& counts,
                          const PlacementQuery& query, DomainRange members, Count threshold) {
  SliceRule slice = query.slice;
  for (Count& size : slice.inner_size) size = 0;
  if (query.level < tree.lowest()) {
    const DomainRange children = Descendants(tree, members, query.level, query.level + 1);
    PruneDomains(team, tree, counts, query.level + 1, children, threshold);
    RollUp(team, tree, slice, counts, query.level, members);
  }
  PruneDomains(team, tree, counts, query.level, members, threshold);
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

// Returns the maximum number of members with which a set is better than `best` at the same
// threshold: fewer, or as many when it comes first in path order (R14.9).
ESPALIER_HD inline Count MostMembers(DomainRange members, const BalancedSet& best) {
  return members.begin < best.members.begin ? best.domains : best.domains - 1;
}

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
    if (!unpruned.fits || unpruned.domains > MostMembers(members, best)) return;
  }
  Greedy pruned = PruneAndCount(team, tree, counts, query, members, threshold, workspace, trial);
  if (!pruned.fits && lowered < threshold && lowered > 0 && lowered >= best.threshold) {
    threshold = lowered;
    pruned = PruneAndCount(team, tree, counts, query, members, threshold, workspace, trial);
  }
  if (!pruned.fits) return;
  if (threshold == best.threshold ? pruned.domains > MostMembers(members, best)
                                  : threshold < best.threshold) {
    return;
  }
  const CountsView kept = trial;
  trial = best.counts;
  best = {threshold, pruned.domains, members, kept};
}

// Upper bounds of all sets of one level, computed before one is tried.
struct SetBounds {
  const Count* threshold = nullptr;  // by set: none is larger (R14.6); null: nothing is known
  std::int32_t first = -1;           // the first set with the largest of them
};

// Returns an upper bound of the threshold of a set on leaves like these, workers alone.
ESPALIER_HD inline Count MostThreshold(const SliceIndex::Top& top, Count slices) {
  const Count in_most = Count{top.most} * top.leaves;
  if (slices > kMaxStored || in_most > kMaxStored) return top.most;
  const auto need = static_cast<std::uint32_t>(slices);
  const auto most = static_cast<std::uint32_t>(top.most);
  const auto held = static_cast<std::uint32_t>(in_most);
  if (held >= need) return need / ((need + most - 1) / most);
  const auto next = static_cast<std::uint32_t>(top.next);
  if (next == 0) return 0;
  const auto leaves = static_cast<std::uint32_t>(top.leaves);
  const std::uint32_t each = need / (leaves + (need - held + next - 1) / next);
  return each < next ? each : next;
}

// A set with such a bound, the larger ones first.
struct BoundedSet {
  Count bound = 0;
  std::int32_t set = -1;
};

struct LargerBound {
  ESPALIER_HD bool operator()(const BoundedSet& a, const BoundedSet& b) const {
    return a.bound != b.bound ? a.bound > b.bound : a.set < b.set;
  }
};

// Bounds the sets, where they are leaves that have an index, workers alone.
template <class Team>
ESPALIER_HD SetBounds BoundSets(Team& team, const TreeView& tree, const CountsView& counts,
                                const PlacementQuery& query, const Workspace& workspace) {
  const std::int32_t above = query.level - 1;
  const DomainRange sets{tree.LevelBegin(above), tree.LevelEnd(above)};
  const DomainRange all = Descendants(tree, sets, above, tree.lowest());
  const SliceIndex* const index = IndexWith(team, counts, all);
  const bool on_leaves = query.slice.level == tree.lowest() && query.level + 1 >= tree.lowest();
  if (index == nullptr || !on_leaves || query.slice.multi_layer()) return {};
  const Count slices = query.slices();
  BoundedSet largest;
  for (std::int32_t p = sets.begin + team.rank(); p < sets.end; p += team.size()) {
    const DomainRange leaves = Descendants(tree, {p, p + 1}, above, tree.lowest());
    Count& bound = workspace.terms[p - sets.begin];
    bound = counts.slices[p] < slices ? 0 : index->MostOf(leaves);
    if (bound <= largest.bound) continue;
    bound = MostThreshold(index->TopOf(leaves), slices);
    if (bound > largest.bound) largest = {bound, p - sets.begin};
  }
  largest = team.minimum(largest, LargerBound{});
  return {workspace.terms, largest.set};
}

// Returns whether a set with such a bound can become better than `best`: at the same threshold its
// members decide, and pruning, which takes nothing but capacity away, makes no fewer members do.
ESPALIER_HD inline bool MayBeBetter(const CountsView& counts, const PlacementQuery& query,
                                    DomainRange members, Count bound, const BalancedSet& best) {
  if (bound != best.threshold) return bound > best.threshold;
  const Count most_members = MostMembers(members, best);
  StoredCount most = 0;  // in one member
  for (std::int32_t d = members.begin; most_members > 0 && d < members.end; ++d) {
    if (counts.slices[d] > most) most = counts.slices[d];
  }
  return most_members > 0 && query.slices() <= most_members * most;
}

// Spreads the request (PLACE, R14.16, R14.17): every domain of `chosen` gets the threshold, and the
// first ones get the rest.
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

// Selects domains of the list (SELECT) in the order `less`: by the greedy count first, then by the
// dynamic programme.
template <class Team, class Less>
ESPALIER_HD BalancedStatus SelectInOrder(Team& team, const CandidateList& list,
                                         const PlacementQuery& query, Less less,
                                         const Workspace& workspace, CandidateList& chosen) {
  const Greedy greedy = FewestDomains(team, list, query);
  if (!greedy.fits) return BalancedStatus::kNotApplicable;
  team.sort(list.items, list.size, less);
  chosen.size = static_cast<std::int32_t>(greedy.domains);
  return SelectDomains(team, list, chosen.size, query, workspace, chosen.items);
}

// Takes the final step on the best set (R14.11).
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
    const BalancedStatus parents = SelectInOrder(team, list, query, order, workspace, chosen);
    if (parents != BalancedStatus::kChosen) return parents;
    list.size = 0;
    for (std::int32_t i = 0; i < chosen.size; ++i) {
      const std::int32_t parent = chosen[i].domain;
      list.size +=
          ListDomains(team, best.counts, ChildrenOf(tree, parent), list.items + list.size).size;
    }
    choice.level = query.level + 1;
  }
  const BalancedStatus status = SelectInOrder(team, list, query, PathOrder{}, workspace, chosen);
  if (status != BalancedStatus::kChosen) return status;
  if (!SpreadEvenly(team, query, best.threshold, chosen)) return BalancedStatus::kNotApplicable;
  choice.status = PlacementStatus::kPlaced;
  choice.domains = chosen;
  return BalancedStatus::kChosen;
}

// Returns whether balanced placement is tried: for preferred requests (R14.1).
ESPALIER_HD inline bool MayBeBalanced(const PlacementQuery& query) {
  return query.balanced && !query.required && !query.unconstrained;
}

// Tries balanced placement where it may be; on kChosen `choice` holds the set with
// its capacities set to what each domain is to get, and `pruned` the counts to descend on.
template <class Team>
ESPALIER_HD BalancedStatus ChooseBalanced(Team& team, const TreeView& tree,
                                          const CountsView& counts, const PlacementQuery& query,
                                          const Workspace& workspace, Choice& choice,
                                          CountsView& pruned) {
  if (!MayBeBalanced(query) || tree.domain_count() == 0) {
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
    const SetBounds bounds = BoundSets(team, tree, counts, query, workspace);
    const DomainRange sets{tree.LevelBegin(above), tree.LevelEnd(above)};
    const auto members_of = [&](std::int32_t set) { return ChildrenOf(tree, sets.begin + set); };
    if (bounds.first >= 0) {
      TrySet(team, tree, counts, query, members_of(bounds.first), workspace, trial, best);
    }
    const Count least = query.leaders == 0 ? query.slices() : 0;
    for (std::int32_t set = 0; set < sets.size(); ++set) {
      if (counts.slices[sets.begin + set] < least) continue;  // cannot fit
      const DomainRange members = members_of(set);
      if (bounds.threshold != nullptr &&
          (set == bounds.first ||
           !MayBeBetter(counts, query, members, bounds.threshold[set], best))) {
        continue;
      }
      TrySet(team, tree, counts, query, members, workspace, trial, best);
    }
  }
  if (best.threshold == 0) return BalancedStatus::kNotApplicable;
  pruned = best.counts;
  return PlaceOnBest(team, tree, query, best, workspace, choice);
}

}  // namespace espalier
