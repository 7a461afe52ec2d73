// Remaining capacity in the form that bulk counting reads: tiles of 16 leaves, one cache line per
// resource, as floats in units of a power of two; and the most that a leaf of each tile holds.
#pragma once

#include <cstddef>
#include <cstdint>
#include <utility>
#include <vector>

#include "kernels/views.hpp"

namespace espalier {

class TiledCapacity {
 public:
  static constexpr std::int32_t kTileLeaves = 16;
  // Up to here, multiplying by a reciprocal that is a hair too large and rounding down is exact
  // integer division: both roundings together stay below a factor of 1 + 2^-22.
  static constexpr Amount kMaxUnits = 3 << 20;

  // From amounts laid out as FlavorSnapshot::free(). The unit of a column is the smallest power of
  // two that keeps its amounts within kMaxUnits.
  TiledCapacity(const std::vector<Amount>& amounts, std::int64_t stride, std::int32_t leaves,
                std::size_t columns);

  void Set(std::int32_t column, std::int32_t leaf, Amount amount) {
    const auto at = static_cast<std::size_t>(column);
    Amount units = amount < 0 ? -1 : amount >> shift_[at];
    if (units > kMaxUnits) {
      exact_[at] = 0;
      units = kMaxUnits;
    }
    const auto tile = static_cast<std::size_t>(leaf / kTileLeaves);
    Row& row = rows_[tile * columns_ + at];
    const auto after = static_cast<float>(units);
    const float before = std::exchange(row.units[leaf % kTileLeaves], after);
    float& most = most_[tile / kTileLeaves * columns_ + at].units[tile % kTileLeaves];
    if (after >= most) {
      most = after;
    } else if (before == most) {
      most = MostIn(row);
    }
  }

  // Amounts of a tile: [column * kTileLeaves + lane], in whole units; -1 for every negative amount
  // and for lanes past the last leaf.
  // Null where there are no leaves or no columns.
  const float* Tile(std::int32_t tile) const {
    return rows_.empty() ? nullptr : rows_[static_cast<std::size_t>(tile) * columns_].units;
  }
  // Floats from one tile to the next.
  std::size_t tile_stride() const { return columns_ * kTileLeaves; }

  // The most that a leaf of each tile holds, of 16 tiles as Tile has it of 16 leaves; -1 past the
  // last tile. Null where Tile is.
  const float* Most() const { return most_.empty() ? nullptr : most_.front().units; }

  // Whether every amount a column has had is held exactly, for requests that are whole units.
  bool Exact(std::int32_t column) const { return exact_[static_cast<std::size_t>(column)] != 0; }
  // A unit is 1 << UnitShift.
  int UnitShift(std::int32_t column) const { return shift_[static_cast<std::size_t>(column)]; }

 private:
  struct alignas(64) Row {
    float units[kTileLeaves];
  };

  static float MostIn(const Row& row);

  std::size_t columns_;
  std::vector<Row> rows_;  // [tile * columns + column]
  std::vector<Row> most_;  // [tile / 16 * columns + column]
  std::vector<std::uint8_t> exact_;
  std::vector<int> shift_;
};

}  // namespace espalier
