// The work of one block of each counting kernel, on any Team: the device runs it on BlockTeam, the
// emulated device on the host. All pointers are to device memory. Arguments travel by value.
#pragma once

#include <cstdint>

#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/leaf_counts.hpp"
#include "kernels/decisions/roll_up.hpp"
#include "kernels/team/team.hpp"
#include "kernels/views.hpp"

namespace espalier {

// Writes new amounts of a few leaves into a capacity matrix.
struct ScatterArgs {
  Amount* amounts = nullptr;  // [columns * stride], as CapacityView
  std::int64_t stride = 0;
  std::int32_t columns = 0;
  std::int32_t size = 0;                // leaves that change
  const std::int32_t* leaf = nullptr;   // [size] distinct
  const Amount* new_amounts = nullptr;  // [columns * size], column by column
  bool operator==(const ScatterArgs&) const = default;
};

inline Grid GridOf(const ScatterArgs& args) {
  return {BlocksFor(args.size, kItemsPerBlock), args.columns};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const ScatterArgs& args, Grid block) {
  const DomainRange portion = Portion(args.size, block.x);
  Amount* column = args.amounts + block.y * args.stride;
  const Amount* values = args.new_amounts + static_cast<std::int64_t>(block.y) * args.size;
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    column[args.leaf[i]] = values[i];
  }
}

// A shape on one state, as it stays on the device: what it is counted from, and its counts.
struct ResidentShape {
  LeafInput input;
  SliceRule slice;
  CountsView counts;           // with affinity where the node filter has scores
  bool leaves_stored = false;  // `counts` has leaves too
};

// A shape that is new to the device, on its way to where it stays.
struct MovingShape {
  std::uint64_t* home = nullptr;  // [words] of the shape and of the arrays that belong to it
  const std::uint64_t* here = nullptr;
  std::int64_t words = 0;
};

// Moves shapes home.
struct MoveShapesArgs {
  const MovingShape* shapes = nullptr;
  std::int32_t shape_count = 0;
  bool operator==(const MoveShapesArgs&) const = default;
};

inline Grid GridOf(const MoveShapesArgs& args) {
  return {BlocksFor(args.shape_count, kShapesPerBlock), 1};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const MoveShapesArgs& args, Grid block) {
  const DomainRange portion = Portion(args.shape_count, block.x, kShapesPerBlock);
  for (std::int32_t s = portion.begin; s < portion.end; ++s) {
    const MovingShape shape = args.shapes[s];
    for (std::int64_t i = team.rank(); i < shape.words; i += team.size()) {
      shape.home[i] = shape.here[i];
    }
  }
}

// Counts leaves for shapes [0, shape_count), dividing.
struct CountLeavesArgs {
  TreeView tree;
  Items leaves;
  const ResidentShape* const* shapes = nullptr;
  std::int32_t shape_count = 0;
  bool operator==(const CountLeavesArgs&) const = default;
};

inline Grid GridOf(const CountLeavesArgs& args) {
  return {BlocksFor(args.leaves.size, kItemsPerBlock),
          BlocksFor(args.shape_count, kShapesPerBlock)};
}

// Counts a portion of the leaves for a few shapes: capacities are read from memory once and then
// come from the cache.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountLeavesArgs& args, Grid block) {
  const DomainRange portion = Portion(args.leaves.size, block.x);
  const std::int32_t first = block.y * kShapesPerBlock;
  const std::int32_t rest = args.shape_count - first;
  const std::int32_t end = first + (rest < kShapesPerBlock ? rest : kShapesPerBlock);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    for (std::int32_t j = first; j < end; ++j) {
      const ResidentShape& shape = *args.shapes[j];
      StoreLeaf(args.tree, shape.slice, shape.input, shape.counts, args.leaves[i]);
    }
  }
}

// A few shapes that are counted together without dividing: floor is monotone, so the least quotient
// is the floor of the least product with a reciprocal. They have no leader, replacement
// domain or assumed usage, and are on one capacity; every amount of the columns, and every request,
// is small enough for doubles (host/packing/reciprocals.hpp).
struct ShapeBatch {
  CapacityView capacity;
  std::int32_t shape_count = 0;          // 1 to kShapesPerBlock
  std::int32_t column_count = 0;         // columns that some shape requests
  const std::int32_t* column = nullptr;  // [column_count] ascending
  const double* inverse = nullptr;       // [column_count * kShapesPerBlock] reciprocal of the
                                         // request; 0: none
  const ResidentShape* const* shapes = nullptr;  // [shape_count]
  const double* slice_inverse = nullptr;  // [kShapesPerBlock] of pods per slice; 0: no slices on
                                          // leaves
};

// Counts leaves for shape batches [0, batch_count).
struct CountShapeBatchesArgs {
  TreeView tree;
  Items leaves;
  const ShapeBatch* batches = nullptr;
  std::int32_t batch_count = 0;
  bool operator==(const CountShapeBatchesArgs&) const = default;
};

inline Grid GridOf(const CountShapeBatchesArgs& args) {
  return {BlocksFor(args.leaves.size, kItemsPerBlock), args.batch_count};
}

// The pods of each shape of a batch on one leaf, whether it passes their filters or not.
struct BatchPods {
  double least[kShapesPerBlock];  // product over the shape's requests

  // Reads each amount of the leaf once and multiplies it with the reciprocals of all shapes.
  ESPALIER_HD BatchPods(const ShapeBatch& batch, std::int32_t leaf) {
    for (double& product : least) product = static_cast<double>(kMaxFit);
    for (std::int32_t c = 0; c < batch.column_count; ++c) {
      const auto amount = static_cast<double>(batch.capacity.At(batch.column[c], leaf));
      const double* inverse = batch.inverse + c * kShapesPerBlock;
      for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
        if (inverse[s] == 0) continue;
        const double product = amount * inverse[s];
        least[s] = product < least[s] ? product : least[s];
      }
    }
  }
  ESPALIER_HD StoredCount Of(std::int32_t shape) const {
    return least[shape] > 0 ? static_cast<StoredCount>(least[shape]) : 0;
  }
};

// Counts shape batches.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountShapeBatchesArgs& args, Grid block) {
  const ShapeBatch& batch = args.batches[block.y];
  const DomainRange portion = Portion(args.leaves.size, block.x);
  const std::int32_t first_leaf = args.tree.LevelBegin(args.tree.lowest());
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    const std::int32_t leaf = args.leaves[i];
    const BatchPods held(batch, leaf);
    for (std::int32_t s = 0; s < kShapesPerBlock; ++s) {
      if (s >= batch.shape_count) continue;
      const ResidentShape& shape = *batch.shapes[s];
      const StoredCount pods = Matches(shape.input, leaf) ? held.Of(s) : 0;
      shape.counts.pods[first_leaf + leaf] = pods;
      shape.counts.slices[first_leaf + leaf] =
          static_cast<StoredCount>(pods * batch.slice_inverse[s]);
    }
  }
}

// Rolls up one level for shapes [0, shape_count); the level below is done.
struct RollUpArgs {
  TreeView tree;
  std::int32_t level = 0;
  Items domains;  // of the level
  const ResidentShape* const* shapes = nullptr;
  std::int32_t shape_count = 0;
  bool operator==(const RollUpArgs&) const = default;
};

inline Grid GridOf(const RollUpArgs& args) {
  return {BlocksFor(args.domains.size, kItemsPerBlock), args.shape_count};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const RollUpArgs& args, Grid block) {
  const ResidentShape& shape = *args.shapes[block.y];
  const DomainRange portion = Portion(args.domains.size, block.x);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    RollUpDomain(args.tree, shape.slice, shape.counts, args.level, args.domains[i]);
  }
}

}  // namespace espalier
