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

// The counts of one domain that its parent sums up.
struct ChildCounts {
  Count pods = 0;
  Count slices = 0;
  bool leader = false;         // it can hold the leader,
  Count pods_with_leader = 0;  // and with it these
  Count slices_with_leader = 0;
};

ESPALIER_HD inline ChildCounts ChildOf(const CountsView& counts, std::int32_t at) {
  ChildCounts child{counts.pods[at], counts.slices[at]};
  if (counts.leaders == nullptr || counts.leaders[at] == 0) return child;
  child.leader = true;
  child.pods_with_leader = counts.pods_with_leader[at];
  child.slices_with_leader = counts.slices_with_leader[at];
  return child;
}

// The sums of what the children of one domain hold. The leader is assumed to sit in the child that
// loses least; pods and slices take that minimum independently (R8.3).
struct ChildSums {
  Count pods = 0;  // whole inner groups of each child (R8.2)
  Count slices = 0;
  Count least_lost_pods = 0;  // by a child that can hold the leader
  Count least_lost_slices = 0;
  bool leader = false;  // a child can hold it
};

// Adds one child; `inner` is the size of its inner groups, 0 where it has none.
ESPALIER_HD inline void AddChild(const ChildCounts& child, Count inner, ChildSums& sums) {
  const Count whole = inner > 0 ? child.pods / inner * inner : child.pods;
  sums.pods += whole;
  sums.slices += child.slices;
  if (!child.leader) return;
  const Count with_leader =
      inner > 0 ? child.pods_with_leader / inner * inner : child.pods_with_leader;
  const Count lost_pods = whole - with_leader;
  const Count lost_slices = child.slices - child.slices_with_leader;
  if (!sums.leader || lost_pods < sums.least_lost_pods) sums.least_lost_pods = lost_pods;
  if (!sums.leader || lost_slices < sums.least_lost_slices) sums.least_lost_slices = lost_slices;
  sums.leader = true;
}

// Adds up the children of one domain of `level`, whose counts lie in `below`.
ESPALIER_HD inline ChildSums SumChildren(const TreeView& tree, const SliceRule& slice,
                                         const CountsView& below, std::int32_t level,
                                         std::int32_t domain) {
  const Count inner = slice.inner_size[level + 1];
  ChildSums sums;
  const std::int32_t end = tree.ChildBegin(domain + 1);
  for (std::int32_t child = tree.ChildBegin(domain); child < end; ++child) {
    AddChild(ChildOf(below, child), inner, sums);
  }
  return sums;
}

// Stores the counts of one domain of `level`, whose children hold `sums` (R8.2).
ESPALIER_HD inline void StoreDomain(const ChildSums& sums, const SliceRule& slice,
                                    const CountsView& counts, std::int32_t level,
                                    std::int32_t domain) {
  const bool slice_level = level == slice.level;
  counts.pods[domain] = Store(sums.pods);
  counts.slices[domain] = Store(slice_level ? sums.pods / slice.size : sums.slices);
  if (counts.leaders == nullptr) return;
  const Count pods = sums.leader ? sums.pods - sums.least_lost_pods : 0;
  const Count slices = sums.leader ? sums.slices - sums.least_lost_slices : 0;
  counts.leaders[domain] = sums.leader ? 1 : 0;
  counts.pods_with_leader[domain] = Store(pods);
  counts.slices_with_leader[domain] = Store(slice_level ? pods / slice.size : slices);
}

// Recomputes one inner domain of `level` from its children (R8.2), whose counts lie in `below`.
ESPALIER_HD inline void RollUpDomain(const TreeView& tree, const SliceRule& slice,
                                     const CountsView& below, const CountsView& counts,
                                     std::int32_t level, std::int32_t domain) {
  if (counts.IsPlainPodCount() && slice.inner_size[level + 1] == 0) {
    counts.pods[domain] = Store(SumPods(below.pods, ChildrenOf(tree, domain)));
    return;
  }
  StoreDomain(SumChildren(tree, slice, below, level, domain), slice, counts, level, domain);
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
