// The first domains of a level, in an order, that together hold what is needed: the shortest prefix
// of the sorted level, without sorting all of it where one lane works alone.
#pragma once

#include <algorithm>
#include <cstdint>
#include <optional>

#include "kernels/decisions/histogram.hpp"
#include "kernels/decisions/leader_first.hpp"
#include "kernels/decisions/leaf_summary.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/decisions/orders.hpp"
#include "kernels/team/serial_team.hpp"
#include "kernels/views.hpp"

namespace espalier {

struct Prefix {
  // In order, without domains that have no slices; of no meaning when the level does not suffice.
  CandidateList list;
  Count slices = 0;  // held by the list, or by the level when that is less than needed
};

// The order with empty domains last; affinity may put them anywhere else.
struct EmptyLast {
  PlainOrder order;
  ESPALIER_HD bool operator()(const Candidate& a, const Candidate& b) const {
    if ((a.slices == 0) != (b.slices == 0)) return b.slices == 0;
    return order(a, b);
  }
};

// Any team: sort, then cut.
template <class Team>
ESPALIER_HD Prefix ShortestPrefix(Team& team, const CountsView& counts, DomainRange range,
                                  PlainOrder order, Count need, Candidate* items) {
  const CandidateList list = ListDomains(team, counts, range, items);
  team.sort(list.items, list.size, EmptyLast{order});
  Prefix prefix{{items, 0}, 0};
  for (std::int32_t i = 0; i < list.size && prefix.slices < need && list[i].slices > 0; ++i) {
    prefix.slices += list[i].slices;
    ++prefix.list.size;
  }
  return prefix;
}

// One lane, pods alone: the domains that a histogram says are taken, put in order.
inline bool PrefixByHistogram(DomainRange range, PlainOrder order, Count need,
                              const CountsView& counts, Prefix& prefix) {
  if (need <= 0) return false;
  const StoredCount* pods = counts.pods;
  const LeafSummary* const summary = SummaryOf(counts, range);
  std::optional<Histogram> own;
  if (summary == nullptr) {
    Count held = 0;
    for (std::int32_t d = range.begin; d < range.end; ++d) held += pods[d];
    if (held < need) {
      prefix.slices = held;
      return true;
    }
    own.emplace(pods + range.begin, range.size());
    if (!own->fits()) return false;
  }
  const Histogram& pool = summary != nullptr ? summary->histogram() : *own;
  HistogramTake take;
  if (!PlanTake(pool, need, order.least_free, take)) {
    prefix.slices = pool.Sum();
    return true;
  }
  const StoredCount lowest = order.least_free ? 1 : take.bound + 1;
  const StoredCount highest = order.least_free ? take.bound - 1 : Histogram::kMost;
  std::int32_t at_bound = take.at_bound + 1;
  Candidate* items = prefix.list.items;
  const auto take_one = [&](std::int32_t d) {
    const bool whole = pods[d] >= lowest && pods[d] <= highest;
    if (!whole && (at_bound == 0 || pods[d] != take.bound)) return;
    if (!whole) --at_bound;
    prefix.slices += pods[d];
    items[prefix.list.size++] = MakeCandidate(counts, d);
  };
  // Most of a wide level is not taken: look at many domains at once first.
  constexpr std::int32_t kRun = LeafSummary::kRun;
  std::int32_t d = range.begin;
  for (; d + kRun <= range.end && prefix.list.size < take.domains; d += kRun) {
    const StoredCount least = at_bound > 0 ? std::min(lowest, take.bound) : lowest;
    const StoredCount most = at_bound > 0 ? std::max(highest, take.bound) : highest;
    if (summary != nullptr) {
      const std::int32_t run = summary->FirstRunWith((d - range.begin) / kRun, least, most);
      d = range.begin + run * kRun;
      if (d + kRun > range.end) break;
    }
    std::int32_t wanted = 0;
    for (std::int32_t i = d; i < d + kRun; ++i) wanted |= (pods[i] >= least) & (pods[i] <= most);
    for (std::int32_t i = d; wanted != 0 && i < d + kRun; ++i) take_one(i);
  }
  for (; d < range.end && prefix.list.size < take.domains; ++d) take_one(d);
  std::sort(items, items + prefix.list.size, order);
  return true;
}

// One lane: a heap of the best so far, whose worst member leaves as soon as the rest suffices.
inline Prefix ShortestPrefix(SerialTeam& /*team*/, const CountsView& counts, DomainRange range,
                             PlainOrder order, Count need, Candidate* items) {
  Prefix prefix{{items, 0}, 0};
  if (counts.slices == counts.pods && counts.affinity == nullptr &&
      PrefixByHistogram(range, order, need, counts, prefix)) {
    return prefix;
  }
  std::int32_t& size = prefix.list.size;
  const bool by_slices = counts.affinity == nullptr;  // slices are the first key
  for (std::int32_t d = range.begin; d < range.end; ++d) {
    const Count slices = counts.slices[d];
    if (slices == 0) continue;
    if (prefix.slices >= need) {
      const Count worst = items[0].slices;
      if (by_slices && (order.least_free ? slices > worst : slices < worst)) continue;
      const Candidate candidate = MakeCandidate(counts, d);
      if (!order(candidate, items[0])) continue;
    }
    items[size++] = MakeCandidate(counts, d);
    std::push_heap(items, items + size, order);
    prefix.slices += slices;
    while (prefix.slices - items[0].slices >= need) {
      prefix.slices -= items[0].slices;
      std::pop_heap(items, items + size--, order);
    }
  }
  std::sort_heap(items, items + size, order);
  return prefix;
}

}  // namespace espalier
