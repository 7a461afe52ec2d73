// The work of one block of each kernel that counts groups of leaves whose own counts are not kept;
// see count_blocks.hpp.
#pragma once

#include <cstdint>

#include "kernels/cuda/count_blocks.hpp"
#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/group_counts.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Counts groups for shapes [0, shape_count), dividing.
struct CountGroupsArgs {
  TreeView tree;
  Items groups;
  const ResidentShape* const* shapes = nullptr;
  std::int32_t shape_count = 0;
  bool operator==(const CountGroupsArgs&) const = default;
};

inline Grid GridOf(const CountGroupsArgs& args) {
  return {BlocksFor(args.groups.size, kGroupsPerBlock), args.shape_count};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountGroupsArgs& args, Grid block) {
  const ResidentShape& shape = *args.shapes[block.y];
  const DomainRange portion = Portion(args.groups.size, block.x, kGroupsPerBlock);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    CountGroup(args.tree, shape.slice, shape.input, shape.counts, args.groups[i]);
  }
}

// Does the same for shape batches [0, batch_count), without dividing amounts.
struct CountGroupBatchesArgs {
  TreeView tree;
  Items groups;
  const ShapeBatch* batches = nullptr;
  std::int32_t batch_count = 0;
  bool operator==(const CountGroupBatchesArgs&) const = default;
};

inline Grid GridOf(const CountGroupBatchesArgs& args) {
  return {BlocksFor(args.groups.size, kGroupsPerBlock), args.batch_count};
}

// Each lane counts the leaves of a group one after the other and keeps the sums of all shapes in
// registers.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountGroupBatchesArgs& args, Grid block) {
  const ShapeBatch& batch = args.batches[block.y];
  const DomainRange portion = Portion(args.groups.size, block.x, kGroupsPerBlock);
  const std::int32_t lowest = args.tree.lowest();
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    const DomainRange leaves = LeavesOfGroup(args.tree, args.groups[i]);
    Count pods[kShapesPerBlock] = {};
    Count slices[kShapesPerBlock] = {};
    for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
      const BatchPods held(batch, leaf);
      for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
        if (s >= batch.shape_count) continue;
        const ResidentShape& shape = *batch.shapes[s];
        if (!Matches(shape.input, leaf)) continue;
        const StoredCount here = held.Of(s);
        const Count inner = shape.slice.inner_size[lowest];
        pods[s] += inner > 0 ? here / inner * inner : here;
        slices[s] += static_cast<StoredCount>(here * batch.slice_inverse[s]);
      }
    }
    for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
      if (s >= batch.shape_count) continue;
      const ResidentShape& shape = *batch.shapes[s];
      ChildSums sums;
      sums.pods = pods[s];
      sums.slices = slices[s];
      StoreGroup(sums, args.tree, shape.slice, shape.counts, args.groups[i]);
    }
  }
}

// A few shapes that are counted by classes of equal leaves: one leaf of each class counts for all
// of it, but for the filter. They have no replacement domain or assumed usage, and counts
// with the same arrays.
struct ClassBatch {
  const ResidentShape* const* shapes = nullptr;
  std::int32_t shape_count = 0;  // 1 to kShapesPerBlock
  // [class * kShapesPerBlock + shape] of a leaf that passes the filter. Behind the last shape are
  // the counts of another one.
  CountsView table;
};

// The pods that a leaf of one class holds, which are read at once.
struct alignas(4 * sizeof(StoredCount)) ClassPods {
  StoredCount of_shape[kShapesPerBlock];
};

// Fills the tables of class batches [0, batch_count).
struct CountClassesArgs {
  TreeView tree;
  CapacityView classes;  // of a leaf of each class
  std::int32_t class_count = 0;
  const ClassBatch* batches = nullptr;
  std::int32_t batch_count = 0;

  bool operator==(const CountClassesArgs& other) const {
    return tree == other.tree && classes.amounts == other.classes.amounts &&
           classes.stride == other.classes.stride && class_count == other.class_count &&
           batches == other.batches && batch_count == other.batch_count;
  }
};

inline Grid GridOf(const CountClassesArgs& args) { return {kShapesPerBlock, args.batch_count}; }

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountClassesArgs& args, Grid block) {
  const ClassBatch& batch = args.batches[block.y];
  const ResidentShape& shape = *batch.shapes[block.x < batch.shape_count ? block.x : 0];
  LeafInput input = shape.input;
  input.capacity = args.classes;
  const bool sliced = shape.slice.level == args.tree.lowest();
  for (std::int32_t c = team.rank(); c < args.class_count; c += team.size()) {
    StoreLeafCounts(CountLeaf(input, c), shape.slice, sliced, batch.table,
                    c * kShapesPerBlock + block.x);
  }
}

// Sums up groups [0, group_count) for class batches [0, batch_count) by their tables.
struct SumClassesArgs {
  TreeView tree;
  std::int32_t group_count = 0;
  const std::uint8_t* class_of_leaf = nullptr;
  const ClassBatch* batches = nullptr;
  std::int32_t batch_count = 0;
  bool operator==(const SumClassesArgs&) const = default;
};

inline Grid GridOf(const SumClassesArgs& args) {
  return {BlocksFor(args.group_count, kGroupsPerBlock), args.batch_count};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const SumClassesArgs& args, Grid block) {
  const ClassBatch& batch = args.batches[block.y];
  const DomainRange portion = Portion(args.group_count, block.x, kGroupsPerBlock);
  const std::int32_t lowest = args.tree.lowest();
  bool filtered = false;
  for (std::int32_t s = 0; s < batch.shape_count; ++s) {
    filtered = filtered || batch.shapes[s]->input.matches != nullptr;
  }
  const auto* pods_of_class = reinterpret_cast<const ClassPods*>(batch.table.pods);
  for (std::int32_t group = portion.begin + team.rank(); group < portion.end;
       group += team.size()) {
    const DomainRange leaves = LeavesOfGroup(args.tree, group);
    if (batch.table.IsPlainPodCount()) {  // without inner groups: a slice is a pod
      Count pods[kShapesPerBlock] = {};
      for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
        const ClassPods held = pods_of_class[args.class_of_leaf[leaf]];
        if (!filtered) {
          for (std::int32_t s = 0; s < kShapesPerBlock; ++s) pods[s] += held.of_shape[s];
          continue;
        }
        for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
          if (s < batch.shape_count && Matches(batch.shapes[s]->input, leaf)) {
            pods[s] += held.of_shape[s];
          }
        }
      }
      for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
        if (s >= batch.shape_count) continue;
        ChildSums sums;
        sums.pods = sums.slices = pods[s];
        StoreGroup(sums, args.tree, batch.shapes[s]->slice, batch.shapes[s]->counts, group);
      }
      continue;
    }
    for (std::int32_t s = 0; s < batch.shape_count; ++s) {
      const ResidentShape& shape = *batch.shapes[s];
      const Count inner = shape.slice.inner_size[lowest];
      ChildSums sums;
      for (std::int32_t leaf = leaves.begin; leaf < leaves.end; ++leaf) {
        if (!Matches(shape.input, leaf)) continue;
        const std::int32_t of_class = args.class_of_leaf[leaf];
        AddChild(ChildOf(batch.table, of_class * kShapesPerBlock + s), inner, sums);
      }
      StoreGroup(sums, args.tree, shape.slice, shape.counts, group);
    }
  }
}

}  // namespace espalier
