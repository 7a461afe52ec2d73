// Counts of a group, the domain right above some leaves, when counts of the leaves are not kept:
// counting and the first roll-up in one.
#pragma once

#include <cstdint>

#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Returns the leaves of a group, numbered from 0. Requires a level above the leaves.
ESPALIER_HD inline DomainRange LeavesOfGroup(const TreeView& tree, std::int32_t group) {
  const std::int32_t first = tree.LevelBegin(tree.lowest());
  const DomainRange leaves = ChildrenOf(tree, tree.LevelBegin(tree.lowest() - 1) + group);
  return {leaves.begin - first, leaves.end - first};
}

// Stores the counts of a group, whose leaves hold `sums`.
ESPALIER_HD inline void StoreGroup(const ChildSums& sums, const TreeView& tree,
                                   const SliceRule& slice, const CountsView& counts,
                                   std::int32_t group) {
  const std::int32_t level = tree.lowest() - 1;
  StoreDomain(sums, slice, counts, level, tree.LevelBegin(level) + group);
}

// Counts the leaves of a group and stores what they hold together.
ESPALIER_HD inline void CountGroup(const TreeView& tree, const SliceRule& slice,
                                   const LeafInput& input, const CountsView& counts,
                                   std::int32_t group) {
  const bool sliced = slice.level == tree.lowest();
  const Count inner = slice.inner_size[tree.lowest()];
  const DomainRange leaves = LeavesOfGroup(tree, group);
  ChildSums sums;
  for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
    const LeafCounts held = CountAnyLeaf(input, leaf);
    ChildCounts child{held.pods, sliced ? held.pods / slice.size : 0};
    if (held.leaders > 0) {
      child.leader = true;
      child.pods_with_leader = held.pods_with_leader;
      child.slices_with_leader = sliced ? held.pods_with_leader / slice.size : 0;
    }
    AddChild(child, inner, sums);
  }
  StoreGroup(sums, tree, slice, counts, group);
}

}  // namespace espalier
