// TAKE over the children of several domains (R13.2), without putting them in order first where one
// lane works alone: which domains are taken, and with how much, follows from how many domains hold
// how many pods.
#pragma once

#include <algorithm>
#include <cstdint>

#include "kernels/decisions/counts_source.hpp"
#include "kernels/decisions/histogram.hpp"
#include "kernels/decisions/lists.hpp"
#include "kernels/team/serial_team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// False: the children must be put in order.
template <class Team, class Source>
ESPALIER_HD bool TakePooled(Team& /*team*/, const TreeView& /*tree*/, const Source& /*source*/,
                            const PlacementQuery& /*query*/, std::int32_t /*level*/,
                            const ShareList& /*current*/, ShareList& /*next*/) {
  return false;
}

// One lane, workers alone, one pod a slice, no affinity: every order is by pods, then by id.
template <class Source>
bool TakePooled(SerialTeam& team, const TreeView& tree, const Source& source,
                const PlacementQuery& query, std::int32_t level, const ShareList& current,
                ShareList& next) {
  if (query.leaders > 0 || query.slice.size != 1 || query.pods == 0) return false;
  const auto by_domain = [](const Share& a, const Share& b) { return a.domain < b.domain; };
  Share* const parents_end = current.items + current.size;
  if (!std::is_sorted(current.items, parents_end, by_domain)) {
    std::sort(current.items, parents_end, by_domain);
  }
  const StoredCount* pods = nullptr;
  Histogram pool;
  for (const Share* parent = current.items; parent != parents_end; ++parent) {
    const DomainRange children = ChildrenOf(tree, parent->domain);
    const CountsView& counts = source.Of(team, level + 1, children);
    if (counts.slices != counts.pods || counts.affinity != nullptr) return false;
    pods = counts.pods;
    pool.Add(pods + children.begin, children.size());
  }
  if (!pool.fits()) return false;
  HistogramTake take;
  if (!PlanTake(pool, query.pods, query.least_free, take)) return true;  // R12.4
  const StoredCount lowest_whole = query.least_free ? 1 : take.bound + 1;
  const StoredCount highest_whole = query.least_free ? take.bound - 1 : Histogram::kMost;
  bool rest_given = false;
  for (const Share* parent = current.items; parent != parents_end; ++parent) {
    const DomainRange children = ChildrenOf(tree, parent->domain);
    for (std::int32_t d = children.begin; d < children.end; ++d) {
      if (pods[d] >= lowest_whole && pods[d] <= highest_whole) {
        Append(team, next, {d, 0, pods[d]});
      } else if (pods[d] == take.bound && take.at_bound > 0) {
        --take.at_bound;
        Append(team, next, {d, 0, pods[d]});
      } else if (pods[d] == take.last && !rest_given) {
        rest_given = true;
        Append(team, next, {d, 0, take.rest});
      }
    }
  }
  return true;
}

}  // namespace espalier
