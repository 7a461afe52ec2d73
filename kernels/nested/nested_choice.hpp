// The alternatives of one group of a nested gang, best first: domains inside the one that the group
// around it was placed in (R25.2, R25.4).
#pragma once

#include <cstdint>

#include "kernels/nested/nested_leaves.hpp"
#include "kernels/nested/nested_views.hpp"
#include "kernels/saturating.hpp"

namespace espalier {

struct NestedKeyOrder {
  ESPALIER_HD bool operator()(const NestedKey& a, const NestedKey& b) const {
    if (a.domain < 0 || b.domain < 0) return a.domain >= 0 && b.domain < 0;
    if (a.first != b.first) return a.first < b.first;
    if (a.second != b.second) return a.second < b.second;
    return a.domain < b.domain;
  }
};

// Returns whether a domain contains the leaves that pods of a step run on (R25.12).
ESPALIER_HD inline bool ContainsRunning(const NestedRun& run, const NestedStep& step,
                                        std::int32_t level, std::int32_t domain) {
  if (step.first_running < 0) return true;
  const TreeView& tree = run.space.tree;
  const std::int32_t first = tree.LevelBegin(tree.lowest());
  return AncestorAt(tree, first + step.first_running, tree.lowest(), level) == domain &&
         AncestorAt(tree, first + step.last_running, tree.lowest(), level) == domain;
}

// Returns whether a domain has room for what is required of a step, shape by shape, and contains
// the leaves its pods run on.
ESPALIER_HD inline bool Admits(const NestedRun& run, const NestedStep& step, std::int32_t level,
                               std::int32_t domain) {
  for (std::int32_t n = step.needs_begin; n < step.needs_end; ++n) {
    const NestedNeed& need = run.needs[n];
    if (run.space.shapes[need.shape].pods[domain] < need.min_pods) return false;
  }
  return ContainsRunning(run, step, level, domain);
}

// Returns whether a domain is in one that another step, beside a step that is to be apart, has to
// itself (R25.17). Behind a step only those count that were placed before one that is not required.
ESPALIER_HD inline bool IsTaken(const NestedRun& run, const NestedStep& step, std::int32_t level,
                                std::int32_t domain) {
  if (!step.apart || step.parent < 0) return false;
  const TreeView& tree = run.space.tree;
  const std::int32_t end = run.steps[step.parent].end;
  for (std::int32_t s = step.parent + 1; s < end; s = run.steps[s].end) {
    const NestedStep& other = run.steps[s];
    if (&other == &step && !step.optional) return false;
    if (&other == &step || !other.apart || !run.choices[s].placed) continue;
    const std::int32_t shared = other.required < step.required ? other.required : step.required;
    if (AncestorAt(tree, run.choices[s].domain, run.choices[s].level, shared) ==
        AncestorAt(tree, domain, level, shared)) {
      return true;
    }
  }
  return false;
}

// Returns how many copies of a step have room in a domain by counts alone, each in one domain of
// its own level.
ESPALIER_HD inline Count RoomForCopies(const NestedRun& run, const NestedStep& copy,
                                       std::int32_t level, std::int32_t domain) {
  const DomainRange inner = Descendants(run.space.tree, {domain, domain + 1}, level, copy.required);
  Count copies = 0;
  for (std::int32_t d = inner.begin; d < inner.end; ++d) {
    Count here = kMaxStored;
    for (std::int32_t n = copy.needs_begin; n < copy.needs_end; ++n) {
      const NestedNeed& need = run.needs[n];
      if (need.min_pods == 0) continue;
      const Count room = run.space.shapes[need.shape].pods[d] / need.min_pods;
      if (room < here) here = room;
    }
    copies += copy.apart && here > 1 ? 1 : here;
  }
  return copies;
}

// Returns how much of all that the group may have a domain lacks: copies, when it has copies that
// are not required in domains of their own, else pods.
ESPALIER_HD inline Count LackingIn(const NestedRun& run, const NestedStep& step, std::int32_t level,
                                   std::int32_t domain) {
  Count lacking = 0;
  if (step.copy >= 0 && run.steps[step.copy].required > level) {
    const Count room = RoomForCopies(run, run.steps[step.copy], level, domain);
    return room < step.copies ? step.copies - room : 0;
  }
  for (std::int32_t n = step.needs_begin; n < step.needs_end; ++n) {
    const NestedNeed& need = run.needs[n];
    const Count room = run.space.shapes[need.shape].pods[domain];
    if (room < need.max_pods) lacking += need.max_pods - room;
  }
  return lacking;
}

// Returns a key by R25.4: domains that lack less come first, then those with less room.
ESPALIER_HD inline NestedKey TightestFitKey(const NestedRun& run, const NestedStep& step,
                                            std::int32_t level, std::int32_t domain) {
  NestedKey key;
  key.domain = domain;
  key.first = LackingIn(run, step, level, domain);
  if (step.main_shape >= 0) key.second = run.space.shapes[step.main_shape].pods[domain];
  return key;
}

inline constexpr Amount kMostExactShare = Amount{1} << 53;

// Returns the share of `total` that is in use, in thousandths.
ESPALIER_HD inline Count ShareInUse(Amount used, Amount total) {
  constexpr Amount kParts = 1000;
  if (total <= 0) return 0;
  if (used < kMostExactShare) return used * kParts / total;
  return total < kParts ? used : used / (total / kParts);
}

// Returns the requests of everything that is required, of one resource.
ESPALIER_HD inline Amount AskedOf(const NestedRun& run, const NestedStep& step,
                                  std::int32_t column) {
  Amount asked = 0;
  for (std::int32_t n = step.needs_begin; n < step.needs_end; ++n) {
    const RequestView& request = run.space.shapes[run.needs[n].shape].request;
    for (std::int32_t r = 0; r < request.size; ++r) {
      if (request.column[r] != column) continue;
      asked = SaturatingSum(asked, SaturatingProduct(run.needs[n].min_pods, request.amount[r]));
    }
  }
  return asked;
}

// Returns a key by R25.13: the largest share of what the main shape requests that is in use once
// the group is placed, then the most pods.
ESPALIER_HD inline NestedKey TightestShareKey(const NestedRun& run, const NestedStep& step,
                                              std::int32_t level, std::int32_t domain) {
  NestedKey key;
  key.domain = domain;
  if (step.main_shape < 0) return key;
  const NestedSpace& space = run.space;
  const DomainRange leaves = LeavesBelow(space.tree, {domain, domain + 1}, level);
  const RequestView& request = space.shapes[step.main_shape].request;
  for (std::int32_t r = 0; r < request.size; ++r) {
    const std::int32_t column = request.column[r];
    if (column < 0 || request.amount[r] <= 0) continue;
    Amount total = 0;
    Amount used = AskedOf(run, step, column);
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      const Amount all = space.total.At(column, leaf);
      const RemainingOnLeaf remaining{space.capacity, request, space.changed.Find(leaf), leaf};
      total = SaturatingSum(total, all);
      used = SaturatingSum(used, SaturatingDifference(all, remaining(r)));
    }
    key.first -= ShareInUse(used, total);
  }
  for (std::int32_t n = step.needs_begin; n < step.needs_end; ++n) {
    const Count room = space.shapes[run.needs[n].shape].pods[domain];
    key.second -= room < run.needs[n].max_pods ? room : run.needs[n].max_pods;
  }
  return key;
}

ESPALIER_HD inline NestedKey KeyOf(const NestedRun& run, const NestedStep& step, std::int32_t level,
                                   std::int32_t domain) {
  return run.order == NestedOrder::kTightestFit ? TightestFitKey(run, step, level, domain)
                                                : TightestShareKey(run, step, level, domain);
}

inline constexpr std::int32_t kDomainsBetweenAsking = 64;

// Returns the first domain of a run behind `after` that admits the step; of no domain when there is
// none.
template <class Team>
ESPALIER_HD NestedKey NextDomain(Team& team, const NestedRun& run, const NestedStep& step,
                                 std::int32_t level, DomainRange range, const NestedKey& after) {
  const NestedKeyOrder less;
  NestedKey best;
  for (std::int32_t d = range.begin + team.rank(); d < range.end; d += team.size()) {
    if (d % kDomainsBetweenAsking == 0 && !GoesOn(run)) break;
    if (!Admits(run, step, level, d)) continue;
    const NestedKey key = KeyOf(run, step, level, d);
    const bool is_next = (after.domain < 0 || less(after, key)) && less(key, best);
    if (is_next && !IsTaken(run, step, level, d)) best = key;
  }
  return team.minimum(best, less);
}

// Returns whether what is required fits where the parent is, and runs there so far.
template <class Team>
ESPALIER_HD bool FitsInParent(Team& team, const NestedRun& run, const NestedStep& step,
                              std::int32_t level, std::int32_t domain) {
  for (std::int32_t n = step.needs_begin; n < step.needs_end; ++n) {
    const NestedNeed& need = run.needs[n];
    if (RoomFor(team, run.space, need.shape, level, domain) < need.min_pods) return false;
  }
  return level == kNoLevel || ContainsRunning(run, step, level, domain);
}

// Turns `choice`, of a step whose parent was placed in the given domain, into the next alternative:
// the domains of the preferred level first, then those of the levels above it down to the required
// one or to where the parent is (R25.2). False: there is none.
template <class Team>
ESPALIER_HD bool NextAlternative(Team& team, const NestedRun& run, const NestedStep& step,
                                 std::int32_t outer_level, std::int32_t outer,
                                 NestedChoice& choice) {
  if (choice.stayed) return false;
  const bool bound = step.required > outer_level;  // the parent's domain does not see to it
  const std::int32_t finest = step.preferred > step.required ? step.preferred : step.required;
  const std::int32_t coarsest = bound ? step.required : outer_level + 1;
  for (std::int32_t level = choice.tried ? choice.level : finest; level >= coarsest; --level) {
    NestedKey after;
    if (choice.tried && level == choice.level) after = choice.key;
    const DomainRange range = DomainsInside(run.space.tree, outer_level, outer, level);
    const NestedKey key = NextDomain(team, run, step, level, range, after);
    if (key.domain < 0) continue;
    choice.tried = true;
    choice.level = level;
    choice.domain = key.domain;
    choice.key = key;
    return true;
  }
  if (bound || IsTaken(run, step, outer_level, outer)) return false;
  if (!FitsInParent(team, run, step, outer_level, outer)) return false;
  choice.tried = choice.stayed = true;
  choice.level = outer_level;
  choice.domain = outer;
  return true;
}

}  // namespace espalier
