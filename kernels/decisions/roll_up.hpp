// Roll-up of leaf counts into their ancestors (section 8). Affinity does not depend on capacity and
// comes rolled up with the node filter.
#pragma once

#include <cstdint>

#include "kernels/views.hpp"

namespace espalier {

// Returns the pods of a run of domains.
ESPALIER_HD inline Count SumPods(const StoredCount* pods, DomainRange range) {
  Count sum = 0;
  for (std::int32_t d = range.begin; d < range.end; ++d) sum += pods[d];
  return sum;
}

// Recomputes one inner domain of `level` from its children (R8.2), whose counts lie in `below`. The
// leader is assumed to sit in the child that loses least; pods and slices take that minimum
// independently (R8.3).
ESPALIER_HD inline void RollUpDomain(const TreeView& tree, const SliceRule& slice,
                                     const CountsView& below, const CountsView& counts,
                                     std::int32_t level, std::int32_t domain) {
  const Count inner = slice.inner_size[level + 1];
  if (counts.IsPlainPodCount() && inner == 0) {
    counts.pods[domain] =
        Store(SumPods(below.pods, {tree.ChildBegin(domain), tree.ChildBegin(domain + 1)}));
    return;
  }
  Count pods = 0;
  Count slices = 0;
  bool leader = false;
  Count least_pods = 0;
  Count least_slices = 0;
  const std::int32_t end = tree.ChildBegin(domain + 1);
  for (std::int32_t child = tree.ChildBegin(domain); child < end; ++child) {
    const Count whole = inner > 0 ? below.pods[child] / inner * inner : below.pods[child];
    pods += whole;
    slices += below.slices[child];
    if (below.leaders == nullptr || below.leaders[child] == 0) continue;
    const Count with_leader =
        inner > 0 ? below.pods_with_leader[child] / inner * inner : below.pods_with_leader[child];
    const Count lost_pods = whole - with_leader;
    const Count lost_slices = below.slices[child] - below.slices_with_leader[child];
    if (!leader || lost_pods < least_pods) least_pods = lost_pods;
    if (!leader || lost_slices < least_slices) least_slices = lost_slices;
    leader = true;
  }
  const bool slice_level = level == slice.level;
  counts.pods[domain] = Store(pods);
  counts.slices[domain] = Store(slice_level ? pods / slice.size : slices);
  if (counts.leaders == nullptr) return;
  const Count pods_with_leader = leader ? pods - least_pods : 0;
  counts.leaders[domain] = leader ? 1 : 0;
  counts.pods_with_leader[domain] = Store(pods_with_leader);
  counts.slices_with_leader[domain] =
      Store(slice_level ? pods_with_leader / slice.size : (leader ? slices - least_slices : 0));
}

ESPALIER_HD inline void RollUpDomain(const TreeView& tree, const SliceRule& slice,
                                     const CountsView& counts, std::int32_t level,
                                     std::int32_t domain) {
  RollUpDomain(tree, slice, counts, counts, level, domain);
}

// Rolls up everything below the run `range` of level `top`, and the run itself.
template <class Team>
ESPALIER_HD void RollUp(Team& team, const TreeView& tree, const SliceRule& slice,
                        const CountsView& counts, std::int32_t top, DomainRange range) {
  for (std::int32_t level = tree.lowest() - 1; level >= top; --level) {
    const DomainRange domains = Descendants(tree, range, top, level);
    for (std::int32_t d = domains.begin + team.rank(); d < domains.end; d += team.size()) {
      RollUpDomain(tree, slice, counts, level, d);
    }
    team.sync();
  }
}

}  // namespace espalier
