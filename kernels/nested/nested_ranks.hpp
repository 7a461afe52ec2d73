// Places groups whose ranks have placement rules (R25.9 to R25.11). Each function places what is
// required of the group's pod sets inside the domain that the group was placed in, and returns
// false when that is not possible; the caller then undoes what was taken so far.
#pragma once

#include <cstdint>

#include "kernels/decisions/leader_first.hpp"
#include "kernels/nested/nested_leaves.hpp"
#include "kernels/nested/nested_views.hpp"

namespace espalier {

struct LargerOf {
  template <class T>
  ESPALIER_HD T operator()(T a, T b) const {
    return a < b ? b : a;
  }
};

// Returns the level whose domains ranks go to, which is not above the group's own domain.
ESPALIER_HD inline std::int32_t RankLevel(const NestedStep& group, const NestedChoice& where) {
  return group.rank_level > where.level ? group.rank_level : where.level;
}

// Takes pods of one pod set from the leaves from `cursor` on, each as many as it holds, until all
// are placed; `cursor` becomes the last leaf used. False: the leaves do not suffice.
template <class Team>
ESPALIER_HD bool SweepLeaves(Team& team, const NestedRun& run, std::int32_t step,
                             std::int32_t leaf_end, std::int32_t& cursor, std::int32_t& taken) {
  const TreeView& tree = run.space.tree;
  const StoredCount* pods =
      run.space.shapes[run.steps[step].shape].pods + tree.LevelBegin(tree.lowest());
  Count rest = run.steps[step].min_pods;
  std::int32_t size = 0;
  for (std::int32_t base = cursor; base < leaf_end && rest > 0; base += team.size()) {
    const std::int32_t leaf = base + team.rank();
    const Count room = leaf < leaf_end ? Count{pods[leaf]} : Count{0};
    const ScanResult<Count> before = team.exclusive_sum(room);
    Count mine = rest - before.prefix;
    if (mine > room) mine = room;
    const ScanResult<std::int32_t> kept = team.exclusive_sum(mine > 0 ? 1 : 0);
    if (mine > 0) run.takes[taken + size + kept.prefix] = {leaf, 0, mine};
    size += kept.total;
    rest -= before.total;
    cursor = team.reduce(mine > 0 ? leaf : cursor, std::int32_t{0}, LargerOf{});
  }
  team.sync();
  if (rest > 0) return false;
  EnterTakes(team, run, step, size, taken);
  return true;
}

// Places by R25.9: along the leaves of the domain in path order, one pod set after the other.
template <class Team>
ESPALIER_HD bool PlaceContiguous(Team& team, const NestedRun& run, const NestedStep& group,
                                 const NestedChoice& where, std::int32_t& taken) {
  const TreeView& tree = run.space.tree;
  const DomainRange leaves = DomainsInside(tree, where.level, where.domain, tree.lowest());
  const std::int32_t first = tree.LevelBegin(tree.lowest());
  std::int32_t cursor = leaves.begin - first;
  for (std::int32_t i = group.rank_order_begin; i < group.rank_order_end; ++i) {
    if (!SweepLeaves(team, run, run.rank_order[i], leaves.end - first, cursor, taken)) return false;
  }
  return true;
}

// Returns the pods of a pod set whose ranks lie in [begin, end).
ESPALIER_HD inline Count PodsOfRanks(const NestedStep& pods, Count begin, Count end) {
  const Count first = pods.first_rank > begin ? Count{pods.first_rank} : begin;
  const Count last = pods.first_rank + pods.min_pods < end ? pods.first_rank + pods.min_pods : end;
  return last > first ? last - first : 0;
}

// Places the ranks [begin, end) of all pod sets of a group into one domain, or nothing.
template <class Team>
ESPALIER_HD ESPALIER_OUT_OF_LINE bool PlaceRanks(Team& team, const NestedRun& run,
                                                 const NestedStep& group, std::int32_t level,
                                                 std::int32_t domain, Count begin, Count end,
                                                 std::int32_t& taken) {
  const std::int32_t before = taken;
  for (std::int32_t i = group.rank_order_begin; i < group.rank_order_end; ++i) {
    const std::int32_t step = run.rank_order[i];
    const Count pods = PodsOfRanks(run.steps[step], begin, end);
    if (run.space.shapes[run.steps[step].shape].pods[domain] < pods) {
      TakeBack(team, run, before, taken);
      return false;
    }
    PlacePods(team, run, step, pods, level, domain, taken);
  }
  return true;
}

// Returns the end of the most ranks from `begin` on that a domain has room for, one pod set at a
// time.
ESPALIER_HD inline Count RanksAtMost(const NestedRun& run, const NestedStep& group,
                                     std::int32_t domain, Count begin, Count end) {
  for (std::int32_t i = group.rank_order_begin; i < group.rank_order_end; ++i) {
    const NestedStep& pods = run.steps[run.rank_order[i]];
    const Count room = run.space.shapes[pods.shape].pods[domain];
    if (PodsOfRanks(pods, begin, end) <= room) continue;
    const Count first = pods.first_rank > begin ? Count{pods.first_rank} : begin;
    end = first + room;
  }
  return end;
}

// Places as many ranks from `begin` on as a domain holds, found by bisection, and returns their
// end.
template <class Team>
ESPALIER_HD Count PlaceMostRanks(Team& team, const NestedRun& run, const NestedStep& group,
                                 std::int32_t level, std::int32_t domain, Count begin, Count end,
                                 std::int32_t& taken) {
  const std::int32_t before = taken;
  Count high = RanksAtMost(run, group, domain, begin, end);
  if (PlaceRanks(team, run, group, level, domain, begin, high, taken)) return high;
  Count low = begin;
  --high;
  while (low < high && GoesOn(run)) {
    const Count middle = low + (high - low + 1) / 2;
    if (PlaceRanks(team, run, group, level, domain, begin, middle, taken)) {
      TakeBack(team, run, before, taken);
      low = middle;
    } else {
      high = middle - 1;
    }
  }
  PlaceRanks(team, run, group, level, domain, begin, low, taken);
  return low;
}

// Places by R25.10: along the domains of the rank level in path order, each as many ranks as it
// holds.
template <class Team>
ESPALIER_HD bool PlaceTogether(Team& team, const NestedRun& run, const NestedStep& group,
                               const NestedChoice& where, std::int32_t& taken) {
  Count ranks = 0;
  for (std::int32_t i = group.rank_order_begin; i < group.rank_order_end; ++i) {
    const NestedStep& pods = run.steps[run.rank_order[i]];
    const Count end = pods.first_rank + pods.min_pods;
    if (end > ranks) ranks = end;
  }
  const std::int32_t level = RankLevel(group, where);
  const DomainRange domains = DomainsInside(run.space.tree, where.level, where.domain, level);
  Count begin = 0;
  for (std::int32_t d = domains.begin; d < domains.end && begin < ranks && GoesOn(run); ++d) {
    begin = PlaceMostRanks(team, run, group, level, d, begin, ranks, taken);
  }
  return begin >= ranks;
}

// The way in which the pods of one pod set are dealt over domains: each gets as many as it holds up
// to `rounds`, and the first `rest` of those with room for more, from the one whose turn it is, get
// another one.
struct Dealing {
  Count rounds = 0;
  Count rest = 0;  // at least 1
};

template <class Team>
ESPALIER_HD Count RoomUpTo(Team& team, const StoredCount* pods, DomainRange domains, Count most) {
  Count mine = 0;
  for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
    mine += pods[d] < most ? Count{pods[d]} : most;
  }
  return team.reduce(mine, Count{0}, PlusCount{});
}

// Deals `wanted` pods, at least 1, for which the domains have room.
template <class Team>
ESPALIER_HD Dealing Deal(Team& team, const StoredCount* pods, DomainRange domains, Count wanted) {
  Count low = 1;  // the round in which the last pod is dealt
  Count high = wanted;
  while (low < high) {
    const Count middle = low + (high - low) / 2;
    if (RoomUpTo(team, pods, domains, middle) < wanted) {
      low = middle + 1;
    } else {
      high = middle;
    }
  }
  return {low - 1, wanted - RoomUpTo(team, pods, domains, low - 1)};
}

// Places by R25.11: the pods are dealt one by one to the domains of the rank level in path order,
// around and around, those that are full left out; a pod set begins where the one before it ended.
template <class Team>
ESPALIER_HD bool PlaceDealt(Team& team, const NestedRun& run, const NestedStep& group,
                            const NestedChoice& where, std::int32_t& taken) {
  const std::int32_t level = RankLevel(group, where);
  const DomainRange domains = DomainsInside(run.space.tree, where.level, where.domain, level);
  std::int32_t turn = 0;  // of the domain at domains.begin + turn
  for (std::int32_t i = group.rank_order_begin; i < group.rank_order_end; ++i) {
    const std::int32_t step = run.rank_order[i];
    const Count wanted = run.steps[step].min_pods;
    if (wanted == 0) continue;
    const StoredCount* pods = run.space.shapes[run.steps[step].shape].pods;
    if (RoomUpTo(team, pods, domains, kMaxStored) < wanted) return false;
    Dealing dealing = Deal(team, pods, domains, wanted);
    std::int32_t last = 0;  // who got the last pod
    for (std::int32_t k = 0; k < domains.size() && GoesOn(run); ++k) {
      const std::int32_t at = (turn + k) % domains.size();
      const Count room = pods[domains.begin + at];
      Count mine = room < dealing.rounds ? room : dealing.rounds;
      if (room > dealing.rounds && dealing.rest > 0) {
        ++mine;
        --dealing.rest;
        last = at;
      }
      PlacePods(team, run, step, mine, level, domains.begin + at, taken);
    }
    turn = (last + 1) % domains.size();
  }
  return true;
}

template <class Team>
ESPALIER_HD bool PlaceRankedGroup(Team& team, const NestedRun& run, const NestedStep& group,
                                  const NestedChoice& where, std::int32_t& taken) {
  switch (group.ranks) {
    case NestedRanks::kContiguous:
      return PlaceContiguous(team, run, group, where, taken);
    case NestedRanks::kTogether:
      return PlaceTogether(team, run, group, where, taken);
    default:
      return PlaceDealt(team, run, group, where, taken);
  }
}

}  // namespace espalier
