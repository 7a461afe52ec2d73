// Choosing the level and the set of domains (section 10).
#pragma once

#include <cstdint>

#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/level_index.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/scans.hpp"
#include "kernels/decisions/shortest_prefix.hpp"
#include "kernels/decisions/slice_index.hpp"
#include "kernels/decisions/workspace.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct Choice {
  PlacementStatus status = PlacementStatus::kDoesNotFit;  // or kPlaced: chosen, or kNoDomains
  std::int32_t level = 0;                                 // where the search ended (R10.11)
  CandidateList domains;                                  // the set, in the order it is consumed
  Count fit = 0;                                          // slices
  Count total = 0;                                        // slices
};

// Returns whether a domain is sufficient alone: it holds all slices and, when wanted, the leader.
ESPALIER_HD inline bool Sufficient(const Candidate& c, Count slices, Count leaders) {
  return c.leaders >= leaders && c.slices_with_leader >= slices;
}
ESPALIER_HD inline bool Sufficient(const Candidate& c, const PlacementQuery& query) {
  return Sufficient(c, query.slices(), query.leaders);
}

// The tightest domain first: highest affinity, then fewest slices, then fewest pods, then path.
// Among sufficient domains this is TIGHT over the first affinity tier (R10.3, R10.7) and also the
// first of Order A under least-free-capacity (R10.4).
struct TightestOrder {
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    if (a.affinity != b.affinity) return a.affinity > b.affinity;
    if (a.slices_with_leader != b.slices_with_leader) {
      return a.slices_with_leader < b.slices_with_leader;
    }
    if (a.pods_with_leader != b.pods_with_leader) return a.pods_with_leader < b.pods_with_leader;
    return a.domain < b.domain;
  }
};

// The last domain in Order A.
struct ReversedLeaderOrder {
  bool least_free = false;
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if (a.none() || b.none()) return !a.none() && b.none();
    return LeaderOrder{least_free}(b, a);
  }
};

// Returns the least domain of a run by `less` among those `wanted(d)`; none when there is none.
template <class Team, class Less, class Wanted>
ESPALIER_HD Candidate LeastOf(Team& team, const CountsView& counts, DomainRange range, Less less,
                              const Wanted& wanted) {
  Candidate best;
  for (std::int32_t d = range.begin + team.rank(); d < range.end; d += team.size()) {
    if (!wanted(d)) continue;
    const Candidate candidate = MakeCandidate(counts, d);
    if (less(candidate, best)) best = candidate;
  }
  return team.minimum(best, less);
}

// Returns the first domain of a level with the fewest slices, then pods, beside a leader or not,
// that are at least `need`; without affinity.
template <class Team>
ESPALIER_HD Candidate TightestOf(Team& team, const TreeView& tree, const CountsView& counts,
                                 std::int32_t level, bool with_leader, Count need) {
  const LevelIndex* const of_level = LevelIndexOf(tree, counts, level);
  if (of_level != nullptr && of_level->Tells(need)) {
    const std::int32_t domain = of_level->Tightest(need);
    return domain < 0 ? Candidate{} : MakeCandidate(counts, domain);
  }
  const DomainRange range = DomainsOf(tree, level);
  const StoredCount* slices =
      (with_leader ? counts.slices_with_leader : counts.slices) + range.begin;
  const StoredCount* pods = (with_leader ? counts.pods_with_leader : counts.pods) + range.begin;
  const SliceIndex* const index = IndexOfLevel(team, counts, range);
  const std::int32_t first =
      index != nullptr
          ? index->FirstTightest(need)
          : FirstTightest(team, slices, slices == pods ? nullptr : pods, range.size(), need);
  return first < 0 ? Candidate{} : MakeCandidate(counts, range.begin + first);
}

// Returns the tightest domain of a level that is sufficient alone.
template <class Team>
ESPALIER_HD Candidate TightestSufficient(Team& team, const TreeView& tree, const CountsView& counts,
                                         const PlacementQuery& query, std::int32_t level) {
  if (counts.affinity == nullptr) {
    const Candidate tightest = TightestOf(team, tree, counts, level, true, query.slices());
    if (tightest.none() || tightest.leaders >= query.leaders) return tightest;
  }
  return LeastOf(team, counts, DomainsOf(tree, level), TightestOrder{},
                 [&](std::int32_t d) { return Sufficient(MakeCandidate(counts, d), query); });
}

template <class Team>
ESPALIER_HD Choice ChooseOne(Team& team, const Candidate& domain, Choice choice,
                             const Workspace& workspace) {
  if (team.rank() == 0) workspace.chosen[0] = domain;
  team.sync();
  choice.status = PlacementStatus::kPlaced;
  choice.domains = {workspace.chosen, 1};
  return choice;
}

// Returns the domain that goes first as it takes the leader (R10.9, R11.3); one that cannot hold
// the leader where no domain can.
template <class Team>
ESPALIER_HD Candidate DomainOfLeader(Team& team, const CountsView& counts,
                                     const PlacementQuery& query, DomainRange range) {
  Count mine = 0;
  for (std::int32_t d = range.begin + team.rank(); d < range.end; d += team.size()) {
    mine += counts.slices[d];
  }
  const Count available = team.reduce(mine, Count{0}, PlusCount{});
  const LeaderOrder order{query.least_free};
  const Candidate first = LeastOf(team, counts, range, order, [&](std::int32_t d) {
    return CanLead(MakeCandidate(counts, d), available, query.slices(), query.leaders,
                   Unit::kSlices);
  });
  if (!first.none()) return first;
  return LeastOf(team, counts, range, order, [](std::int32_t) { return true; });
}

// Appends the domains without room for a slice that come before `last` in the order (R10.10). They
// matter below, where one of their children may take the leader (R13.2).
template <class Team>
ESPALIER_HD void AppendEmpty(Team& team, const CountsView& counts, DomainRange range,
                             const Candidate& last, PlainOrder order, std::int32_t leader,
                             CandidateList& chosen) {
  if (counts.affinity == nullptr && !order.least_free) return;  // they come behind all others
  for (std::int32_t d = range.begin; d < range.end; ++d) {
    if (counts.slices[d] > 0 || counts.Leaders(d) == 0 || d == leader) continue;
    const Candidate empty = MakeCandidate(counts, d);
    if (order(empty, last)) Append(team, chosen, empty);
  }
}

// Chooses several domains of one level (R10.9): that of the leader, where there is one, then whole
// domains along Order B; the last one under best-fit is the tightest that still holds the rest.
// Requires that no domain is sufficient, or that only the top of Order A may answer and is not. So
// the leader's domain is never one of several that hold everything in its affinity tier, and the
// tight fit among these (R10.9) would be that domain itself.
template <class Team>
ESPALIER_HD Choice ChooseSeveral(Team& team, const TreeView& tree, const CountsView& counts,
                                 const PlacementQuery& query, DomainRange range, Choice choice,
                                 const Workspace& workspace) {
  CandidateList chosen{workspace.chosen, 0};
  std::int32_t leader = -1;  // the leader's domain, and the slices that it holds without one
  Count slices_of_leader = 0;
  Count rest = query.slices();
  if (query.leaders > 0) {
    const Candidate domain = DomainOfLeader(team, counts, query, range);
    if (domain.leaders == 0) {
      choice.fit = 0;
      return choice;
    }
    Append(team, chosen, domain);
    leader = domain.domain;
    slices_of_leader = domain.slices;
    rest -= domain.slices_with_leader;
  }
  // This is the need of all domains, as if the leader's were among them.
  const Count need = rest + slices_of_leader;
  const PlainOrder order{query.least_free};
  const Prefix prefix = ShortestPrefix(team, counts, range, order, need, workspace.level);
  if (prefix.slices < need) {
    choice.fit = query.slices() - (need - prefix.slices);
    return choice;
  }
  Count held = prefix.slices;  // by the domains up to `end`, without the leader's
  std::int32_t end = prefix.list.size;
  for (std::int32_t i = 0; i < end; ++i) {
    if (prefix.list[i].domain == leader) held -= slices_of_leader;
  }
  for (; end > 0; --end) {
    if (prefix.list[end - 1].domain == leader) continue;
    const Count without_last = held - prefix.list[end - 1].slices;
    if (without_last < rest) break;
    held = without_last;
  }
  for (std::int32_t i = 0; i + 1 < end; ++i) {
    if (prefix.list[i].domain != leader) Append(team, chosen, prefix.list[i]);
  }
  if (end > 0) {
    Candidate last = prefix.list[end - 1];
    if (!query.least_free) {
      // Everything with fewer slices comes after `last` in Order B, so nothing is taken twice.
      const Count left = rest - (held - last.slices);
      Candidate tightest;
      const bool scored = counts.affinity != nullptr;
      if (!scored) tightest = TightestOf(team, tree, counts, choice.level, false, left);
      if (scored || tightest.domain == leader) {
        tightest = LeastOf(team, counts, range, PlainOrder{true}, [&](std::int32_t d) {
          return counts.slices[d] >= left && counts.Affinity(d) == last.affinity && d != leader;
        });
      }
      if (!tightest.none() && tightest.slices < last.slices) last = tightest;
    }
    if (query.leaders > 0 && choice.level < tree.lowest()) {
      AppendEmpty(team, counts, range, last, order, leader, chosen);
    }
    Append(team, chosen, last);
  }
  team.sync();
  choice.status = PlacementStatus::kPlaced;
  choice.domains = chosen;
  return choice;
}

// Returns the fit that a failure reports when no domain of a level is sufficient (R10.5, R10.7).
template <class Team>
ESPALIER_HD Count LargestPartialFit(Team& team, const TreeView& tree, const CountsView& counts,
                                    const PlacementQuery& query, std::int32_t level) {
  const DomainRange range = DomainsOf(tree, level);
  // Where nothing but capacity tells domains apart, it is the most that one holds.
  if (!query.least_free || counts.IsPlainPodCount()) {
    const LevelIndex* const of_level = LevelIndexOf(tree, counts, level);
    if (of_level != nullptr) return of_level->most;
  }
  if (counts.affinity == nullptr && counts.IsPlainPodCount()) {
    const SliceIndex* const index = IndexOfLevel(team, counts, range);
    return index != nullptr ? index->histogram->most() : MostOf(team, counts.pods, range);
  }
  const auto any = [](std::int32_t) { return true; };
  return query.least_free ? LeastOf(team, counts, range, ReversedLeaderOrder{true}, any).pods
                          : LeastOf(team, counts, range, LeaderOrder{}, any).slices;
}

// Returns whether only the top of Order A may be chosen, as affinity beats compactness for a
// preferred request (R10.8). Without scores the top is sufficient as soon as any domain is.
ESPALIER_HD inline bool OnlyTopMayAnswer(const PlacementQuery& query, bool scored) {
  return query.affinity && scored && !query.required && !query.least_free;
}

// Chooses at one level: a single domain, several, a failure, or `relax` when the level above is to
// be tried (R10.8).
template <class Team>
ESPALIER_HD Choice ChooseAtLevel(Team& team, const TreeView& tree, const CountsView& counts,
                                 const PlacementQuery& query, std::int32_t level,
                                 const Workspace& workspace, bool& relax) {
  relax = false;
  Choice choice;
  choice.level = level;
  choice.total = query.slices();
  const DomainRange range = DomainsOf(tree, level);
  if (range.size() == 0) {
    choice.status = PlacementStatus::kNoDomains;
    return choice;
  }
  const auto any = [](std::int32_t) { return true; };
  if (!OnlyTopMayAnswer(query, counts.affinity != nullptr) ||
      Sufficient(LeastOf(team, counts, range, LeaderOrder{}, any), query)) {
    const Candidate tightest = TightestSufficient(team, tree, counts, query, level);
    if (!tightest.none()) return ChooseOne(team, tightest, choice, workspace);
  }
  if (query.required) {
    choice.fit = LargestPartialFit(team, tree, counts, query, level);
    return choice;
  }
  if (level > 0 && !query.unconstrained) {
    relax = true;
    return choice;
  }
  return ChooseSeveral(team, tree, counts, query, range, choice, workspace);
}

// Chooses from the requested level upwards (CHOOSE).
template <class Team>
ESPALIER_HD Choice ChooseLevel(Team& team, const TreeView& tree, const CountsView& counts,
                               const PlacementQuery& query, const Workspace& workspace) {
  for (std::int32_t level = query.level;; --level) {
    bool relax = false;
    const Choice choice = ChooseAtLevel(team, tree, counts, query, level, workspace, relax);
    if (!relax) return choice;
  }
}

}  // namespace espalier
