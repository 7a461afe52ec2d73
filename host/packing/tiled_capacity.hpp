// Remaining capacity in the form that bulk counting reads: tiles of 16 leaves, one cache line per
// resource, as floats in units of a power of two; and the most that a leaf of each tile holds.
#pragma once

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/model/resources.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/paged_array.hpp"
#include "kernels/views.hpp"

namespace espalier {

class TiledCapacity {
 public:
  static constexpr std::int32_t kTileLeaves = 16;
  // Up to here, multiplying by a reciprocal that is a hair too large and rounding down is exact
  // integer division: both roundings together stay below a factor of 1 + 2^-22.
  static constexpr Amount kMaxUnits = 3 << 20;

  // Converts amounts laid out as FlavorSnapshot::free(), given the largest magnitude of each
  // column. The unit of a column is the smallest power of two that keeps its magnitude within
  // kMaxUnits.
  TiledCapacity(std::span<const Amount> amounts, std::int64_t stride, std::int32_t leaves,
                std::span<const Amount> magnitudes);
  // Converts the same, sparse when the amounts are. Its memory stays charged to `budget`; once that
  // is stopped, it must not be used.
  TiledCapacity(const PagedArray<Amount>& amounts, std::int64_t stride, std::int32_t leaves,
                std::span<const Amount> magnitudes, WorkBudget& budget);

  static std::size_t TileOf(std::int32_t leaf) {
    return static_cast<std::size_t>(leaf) / kTileLeaves;
  }

  struct LeafAmount {
    std::int32_t leaf;
    Amount amount;
  };

  // Sets the amounts of some leaves of one tile. Returns whether Exact(column) has changed.
  bool Set(std::int32_t column, std::span<const LeafAmount> leaves) {
    if (leaves.empty()) return false;
    const auto at = static_cast<std::size_t>(column);
    const std::size_t tile = TileOf(leaves.front().leaf);
    rows_.Use(tile * columns_ + at);
    Row& row = rows_[tile * columns_ + at];
    const bool exact = Exact(column);
    float before = -1;  // the most of these leaves
    float after = -1;
    for (const LeafAmount& leaf : leaves) {
      Amount units = leaf.amount < 0 ? -1 : leaf.amount >> shift_[at];
      if (units > kMaxUnits) {
        exact_[at] = 0;
        units = kMaxUnits;
      }
      float& of_leaf = row.units[static_cast<std::size_t>(leaf.leaf) % kTileLeaves];
      before = std::max(before, of_leaf);
      of_leaf = static_cast<float>(units);
      after = std::max(after, of_leaf);
    }
    rows_.Use(MostRow(tile, at));
    float& most = MostOf(tile, at);
    if (after >= most) {
      most = after;
    } else if (before == most) {
      most = MostIn(row);
    }
    min_tile_max_[at] = std::min(min_tile_max_[at], most);
    return exact != Exact(column);
  }

  // Copies the tiles of some leaves from another capacity of the same leaves. CopyRanges must be
  // called after the last ones. Neither may be sparse.
  void CopyTiles(const TiledCapacity& other, DomainRange leaves);
  void CopyRanges(const TiledCapacity& other);

  // Prefetches what Set is going to write.
  void Prefetch(std::int32_t column, std::int32_t leaf) const {
    const std::size_t tile = TileOf(leaf);
    const auto at = static_cast<std::size_t>(column);
    __builtin_prefetch(rows_.data() + tile * columns_ + at);
    __builtin_prefetch(rows_.data() + MostRow(tile, at));
  }

  // Returns the amounts of a tile: [column * kTileLeaves + lane], in whole units; -1 for every
  // negative amount and for lanes past the last leaf. Null where there are no leaves or no columns.
  const float* Tile(std::int32_t tile) const {
    return rows_.empty() ? nullptr : rows_[static_cast<std::size_t>(tile) * columns_].units;
  }
  // Returns the number of floats from one tile to the next.
  std::size_t tile_stride() const { return columns_ * kTileLeaves; }

  // Returns the maximum of the leaves of each tile, for 16 tiles as Tile has it for 16 leaves;
  // entries past the last tile have no meaning. Null where Tile is.
  const float* Most() const { return rows_.empty() ? nullptr : rows_[tiles_ * columns_].units; }

  // Returns by column a lower bound of every tile's maximum, at any time so far.
  const float* MinTileMax() const { return min_tile_max_.data(); }

  // Returns the bytes that a copy takes.
  std::int64_t Bytes() const { return rows_.Bytes() + static_cast<std::int64_t>(16 * columns_); }

  // Returns whether every amount a column has had is held exactly, for requests that are whole
  // units.
  bool Exact(std::int32_t column) const { return exact_[static_cast<std::size_t>(column)] != 0; }
  // Returns the binary logarithm of a column's unit.
  int UnitShift(std::int32_t column) const { return shift_[static_cast<std::size_t>(column)]; }

 private:
  struct alignas(64) Row {
    float units[kTileLeaves];
  };

  TiledCapacity(std::int32_t leaves, std::span<const Amount> magnitudes);
  std::size_t RowCount() const {
    return (tiles_ + (tiles_ + kTileLeaves - 1) / kTileLeaves) * columns_;
  }
  void PackDense(std::span<const Amount> amounts, std::int64_t stride, std::int32_t leaves,
                 const WorkBudget& budget);
  void PackSparse(const PagedArray<Amount>& amounts, std::int64_t stride, std::int32_t leaves,
                  WorkBudget& budget);
  static float MostIn(const Row& row);
  std::size_t MostRow(std::size_t tile, std::size_t column) const {
    return (tiles_ + tile / kTileLeaves) * columns_ + column;
  }
  float& MostOf(std::size_t tile, std::size_t column) {
    return rows_[MostRow(tile, column)].units[tile % kTileLeaves];
  }

  std::size_t columns_;
  std::size_t tiles_;
  PagedArray<Row> rows_;  // [tile * columns + column], behind them [tile / 16 * columns + column]
  std::vector<float> min_tile_max_;
  std::vector<std::uint8_t> exact_;
  std::vector<int> shift_;
};

}  // namespace espalier
