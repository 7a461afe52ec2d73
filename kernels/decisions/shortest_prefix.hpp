// The first domains of a level, in an order, that together hold what is needed: the shortest prefix
// of the sorted level, of which only the prefix is sorted.
#pragma once

#include <cstdint>

#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/decisions/select_taken.hpp"
#include "kernels/decisions/slice_index.hpp"
#include "kernels/decisions/take_plan.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct Prefix {
  // Domains in order, without those that have no slices; meaningless when the level does not
  // suffice.
  CandidateList list;
  Count slices = 0;  // held by the list, or by the level when that is less than needed
};

// Returns what ShortestPrefix does where affinity comes first in the order.
template <class Team>
ESPALIER_HD Prefix PrefixByAffinity(Team& team, const CountsView& counts, DomainRange range,
                                    PlainOrder order, Count need, Candidate* items) {
  const SortedFront front = team.sort_front(
      items, range.size(),
      [counts, range](std::int32_t i) { return MakeCandidate(counts, range.begin + i); },
      [](const Candidate& candidate) { return candidate.slices; }, order, need);
  return {{items, front.size}, front.weight};
}

// The pods of domains that hold so many slices; nothing of others.
struct PodsBySlices {
  using Run = PodsBySlices;

  const StoredCount* pods = nullptr;
  const StoredCount* slices = nullptr;
  std::int32_t count = 0;
  StoredCount wanted = 0;

  ESPALIER_HD std::int32_t size() const { return count; }
  ESPALIER_HD StoredCount operator[](std::int32_t i) const {
    const StoredCount held = pods[i];  // without a branch
    return slices[i] == wanted ? held : 0;
  }
  template <class Visit>
  ESPALIER_HD void ForEachRun(const Visit& visit) const {
    visit(*this);
  }
};

// Returns the first position of `values`, not before `i`, which is a multiple of kTakingRun, from
// which on a domain may hold from `low` to `high`; a multiple again or the end. Teams of many lanes
// go on at `i`: they look at many runs in one step.
template <class Team>
ESPALIER_HD std::int32_t SkipUnwanted(const Team& /*team*/, const CountRun& values,
                                      const SliceIndex* index, std::int32_t i, StoredCount low,
                                      StoredCount high) {
  if constexpr (Team::kOneLane) {
    for (;; i += kTakingRun) {
      if (index != nullptr) i = index->FirstRunWith(i / kTakingRun, low, high) * kTakingRun;
      if (i + kTakingRun > values.size()) return i;
      std::int32_t wanted = 0;
      for (std::int32_t j = i; j < i + kTakingRun; ++j) {
        const StoredCount value = values[j];
        wanted |= (value >= low) & (value <= high);
      }
      if (wanted != 0) return i;
    }
  }
  return i;
}

// Returns the first domains of a level in an order that hold `need` slices together; `items` has
// room for the whole level.
template <class Team>
ESPALIER_HD Prefix ShortestPrefix(Team& team, const CountsView& counts, DomainRange range,
                                  PlainOrder order, Count need, Candidate* items) {
  if (counts.affinity != nullptr) {
    return PrefixByAffinity(team, counts, range, order, need, items);
  }
  const CountRun slices{counts.slices + range.begin, range.size()};
  const SliceIndex* const index = IndexOfLevel(team, counts, range);
  const DomainCounts by_slices(team, slices, index != nullptr ? index->histogram : nullptr);
  const TakePlan plan = PlanTake(by_slices, need, order.least_free);
  if (!plan.suffices || plan.domains == 0) return {{items, 0}, plan.held};
  // Domains that hold the bound are taken by their pods, then by id.
  PodsBySlices pods{counts.pods + range.begin, slices.values, range.size(), plan.bound};
  CountBound in_pods{true, plan.bound, {}};
  if (!counts.IsPlainPodCount()) {
    const DomainCounts at_bound(team, pods);
    in_pods = FindBound(at_bound, plan.at_bound + 1, true, InDomains{}, true);
  }
  TakingState state{0, plan.at_bound + 1 - static_cast<std::int32_t>(in_pods.before.domains), 0};
  const auto taking_of = [&](std::int32_t i) {
    const StoredCount held = slices[i];
    if (held >= plan.least_whole && held <= plan.most_whole) return Taking::kWholly;
    if (held != plan.bound || pods.pods[i] > in_pods.value) return Taking::kNot;
    return pods.pods[i] < in_pods.value ? Taking::kWholly : Taking::kAtBound;
  };
  const auto skip = [&](std::int32_t i) {
    if (i >= slices.size() || state.taken == plan.domains) return slices.size();
    const bool wanted = state.at_bound > 0 || in_pods.before.domains > 0;
    const StoredCount low = wanted && plan.bound < plan.least_whole ? plan.bound : plan.least_whole;
    const StoredCount high = wanted && plan.bound > plan.most_whole ? plan.bound : plan.most_whole;
    return SkipUnwanted(team, slices, index, i, low, high);
  };
  const auto take = [&](std::int32_t i, Taking, const TakingState& now) {
    items[now.taken] = MakeCandidate(counts, range.begin + i);
  };
  SelectTaken(team, slices.size(), taking_of, skip, state, take);
  team.sync();
  team.sort(items, plan.domains, order);
  return {{items, plan.domains}, plan.held + plan.bound};
}

}  // namespace espalier
