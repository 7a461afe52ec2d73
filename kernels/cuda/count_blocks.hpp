// What one block of each counting kernel does, on any Team: the device runs it on BlockTeam, the
// emulated device on the host. All pointers are to device memory. Arguments travel by value.
#pragma once

#include <cstdint>

#include "kernels/cuda/grid.hpp"
#include "kernels/decisions/exclusions.hpp"
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

// One shape on one state: what is counted, and where the counts go.
struct CountRow {
  LeafInput input;
  SliceRule slice;
  CountsView counts;  // without affinity
  ExclusionView exclusions;
};

// Counts leaves of rows [0, row_count), dividing.
struct CountLeavesArgs {
  TreeView tree;
  Items leaves;
  const CountRow* rows = nullptr;
  std::int32_t row_count = 0;
  bool operator==(const CountLeavesArgs&) const = default;
};

inline Grid GridOf(const CountLeavesArgs& args) {
  return {BlocksFor(args.leaves.size, kItemsPerBlock), BlocksFor(args.row_count, kRowsPerBlock)};
}

// A block counts a portion of the leaves for a few rows: capacities are read from memory once and
// then come from the cache.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountLeavesArgs& args, Grid block) {
  const DomainRange portion = Portion(args.leaves.size, block.x);
  const std::int32_t first = block.y * kRowsPerBlock;
  const std::int32_t rest = args.row_count - first;
  const std::int32_t end = first + (rest < kRowsPerBlock ? rest : kRowsPerBlock);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    for (std::int32_t r = first; r < end; ++r) {
      const CountRow& row = args.rows[r];
      StoreLeaf(args.tree, row.slice, row.input, row.counts, args.leaves[i]);
    }
  }
}

// A few rows that are counted together without dividing: floor is monotone, so the least quotient
// is the floor of the least product with a reciprocal. Rows without a leader, a replacement domain
// or assumed usage, on one capacity; every amount of the columns is below kExactAmount, and so is
// every request.
inline constexpr Amount kExactAmount = Amount{1} << 51;

struct CountTile {
  CapacityView capacity;
  std::int32_t row_count = 0;             // 1 to kRowsPerBlock
  std::int32_t column_count = 0;          // columns that some row requests
  const std::int32_t* column = nullptr;   // [column_count] ascending
  const double* inverse = nullptr;        // [column_count * kRowsPerBlock] ExactInverse of the
                                          // request; 0: none
  const std::int32_t* entry = nullptr;    // [column_count * kRowsPerBlock] of the row's request
  const CountRow* rows = nullptr;         // [row_count]
  const double* slice_inverse = nullptr;  // [kRowsPerBlock] of pods per slice; 0: no slices on
                                          // leaves
};

// Counts leaves of tiles [0, tile_count).
struct CountTilesArgs {
  TreeView tree;
  Items leaves;
  const CountTile* tiles = nullptr;
  std::int32_t tile_count = 0;
  bool operator==(const CountTilesArgs&) const = default;
};

inline Grid GridOf(const CountTilesArgs& args) {
  return {BlocksFor(args.leaves.size, kItemsPerBlock), args.tile_count};
}

// Writes what StoreLeaf writes, from the least product over the row's requests and the first entry
// without room for a pod.
ESPALIER_HD inline void StoreProduct(const CountRow& row, std::int32_t first_leaf,
                                     std::int32_t leaf, double least, std::int32_t limiting,
                                     double slice_inverse) {
  const bool matches = Matches(row.input, leaf);
  StoredCount pods = 0;
  if (matches && least > 0) pods = static_cast<StoredCount>(least);
  if (row.counts.exclusion != nullptr) {
    row.counts.exclusion[leaf] =
        matches && pods == 0 ? static_cast<std::int16_t>(limiting) : kNotExcluded;
  }
  row.counts.pods[first_leaf + leaf] = pods;
  row.counts.slices[first_leaf + leaf] = static_cast<StoredCount>(pods * slice_inverse);
}

// A lane reads each amount once and multiplies it with the reciprocals of all rows of the tile,
// which it keeps in registers.
template <class Team>
ESPALIER_HD void RunBlock(Team& team, const CountTilesArgs& args, Grid block) {
  const CountTile& tile = args.tiles[block.y];
  const DomainRange portion = Portion(args.leaves.size, block.x);
  const std::int32_t first_leaf = args.tree.LevelBegin(args.tree.lowest());
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    const std::int32_t leaf = args.leaves[i];
    double least[kRowsPerBlock];
    std::int32_t limiting[kRowsPerBlock];
    for (std::int32_t r = 0; r < kRowsPerBlock; ++r) {
      least[r] = static_cast<double>(kMaxFit);
      limiting[r] = -1;
    }
    for (std::int32_t c = 0; c < tile.column_count; ++c) {
      const auto amount = static_cast<double>(tile.capacity.At(tile.column[c], leaf));
      const double* inverse = tile.inverse + c * kRowsPerBlock;
      const std::int32_t* entry = tile.entry + c * kRowsPerBlock;
      for (std::int32_t r = 0; r < kRowsPerBlock; ++r) {
        if (inverse[r] == 0) continue;
        const double product = amount * inverse[r];
        if (product < 1 && limiting[r] < 0) limiting[r] = entry[r];
        least[r] = product < least[r] ? product : least[r];
      }
    }
    for (std::int32_t r = 0; r < kRowsPerBlock; ++r) {
      if (r >= tile.row_count) continue;
      StoreProduct(tile.rows[r], first_leaf, leaf, least[r], limiting[r], tile.slice_inverse[r]);
    }
  }
}

// Rolls up one level of rows [0, row_count); the level below is done.
struct RollUpArgs {
  TreeView tree;
  std::int32_t level = 0;
  Items domains;  // of the level
  const CountRow* rows = nullptr;
  std::int32_t row_count = 0;
  bool operator==(const RollUpArgs&) const = default;
};

inline Grid GridOf(const RollUpArgs& args) {
  return {BlocksFor(args.domains.size, kItemsPerBlock), args.row_count};
}

template <class Team>
ESPALIER_HD void RunBlock(Team& team, const RollUpArgs& args, Grid block) {
  const CountRow& row = args.rows[block.y];
  const DomainRange portion = Portion(args.domains.size, block.x);
  for (std::int32_t i = portion.begin + team.rank(); i < portion.end; i += team.size()) {
    RollUpDomain(args.tree, row.slice, row.counts, args.level, args.domains[i]);
  }
}

}  // namespace espalier
