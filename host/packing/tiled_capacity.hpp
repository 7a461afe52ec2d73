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

  // From amounts laid out as FlavorSnapshot::free(), and the largest magnitude of each column. Its
  // unit is the smallest power of two that keeps that within kMaxUnits.
  TiledCapacity(std::span<const Amount> amounts, std::int64_t stride, std::int32_t leaves,
                std::span<const Amount> magnitudes);
  // The same, sparse where the amounts are. What it takes stays charged to `budget`; once that is
  // stopped, it is of no use.
  TiledCapacity(const PagedArray<Amount>& amounts, std::int64_t stride, std::int32_t leaves,
                std::span<const Amount> magnitudes, WorkBudget& budget);

  static std::size_t TileOf(std::int32_t leaf) {
    return static_cast<std::size_t>(leaf) / kTileLeaves;
  }

  struct LeafAmount {
    std::int32_t leaf;
    Amount amount;
  };

  // Amounts of some leaves of one tile.
  void Set(std::int32_t column, std::span<const LeafAmount> leaves) {
    if (leaves.empty()) return;
    const auto at = static_cast<std::size_t>(column);
    const std::size_t tile = TileOf(leaves.front().leaf);
    rows_.Use(tile * columns_ + at);
    Row& row = rows_[tile * columns_ + at];
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
    least_most_[at] = std::min(least_most_[at], most);
  }

  // Copies the tiles of some leaves from another capacity of the same leaves. CopyRanges is due
  // after the last ones. Neither may be sparse.
  void CopyTiles(const TiledCapacity& other, DomainRange leaves);
  void CopyRanges(const TiledCapacity& other);

  // What Set is going to write.
  void Prefetch(std::int32_t column, std::int32_t leaf) const {
    const std::size_t tile = TileOf(leaf);
    const auto at = static_cast<std::size_t>(column);
    __builtin_prefetch(rows_.data() + tile * columns_ + at);
    __builtin_prefetch(rows_.data() + MostRow(tile, at));
  }

  // Amounts of a tile: [column * kTileLeaves + lane], in whole units; -1 for every negative amount
  // and for lanes past the last leaf.
  // Null where there are no leaves or no columns.
  const float* Tile(std::int32_t tile) const {
    return rows_.empty() ? nullptr : rows_[static_cast<std::size_t>(tile) * columns_].units;
  }
  // Floats from one tile to the next.
  std::size_t tile_stride() const { return columns_ * kTileLeaves; }

  // The most that a leaf of each tile holds, of 16 tiles as Tile has it of 16 leaves; those past
  // the last tile have no meaning. Null where Tile is.
  const float* Most() const { return rows_.empty() ? nullptr : rows_[tiles_ * columns_].units; }

  // By column: every tile has had a leaf that holds so much at any time.
  const float* LeastMost() const { return least_most_.data(); }

  // Returns the bytes that a copy takes.
  std::int64_t Bytes() const { return rows_.Bytes() + static_cast<std::int64_t>(16 * columns_); }

  // Whether every amount a column has had is held exactly, for requests that are whole units.
  bool Exact(std::int32_t column) const { return exact_[static_cast<std::size_t>(column)] != 0; }
  // A unit is 1 << UnitShift.
  int UnitShift(std::int32_t column) const { return shift_[static_cast<std::size_t>(column)]; }

 private:
  struct alignas(64) Row {
    float units[kTileLeaves];
  };

  TiledCapacity(std::int32_t leaves, std::span<const Amount> magnitudes);
  std::size_t RowCount() const {
    return (tiles_ + (tiles_ + kTileLeaves - 1) / kTileLeaves) * columns_;
  }
  void PackDense(std::span<const Amount> amounts, std::int64_t stride, std::int32_t leaves);
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
  std::vector<float> least_most_;
  std::vector<std::uint8_t> exact_;
  std::vector<int> shift_;
};

}  // namespace espalier
