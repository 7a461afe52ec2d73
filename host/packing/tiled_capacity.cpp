#include "host/packing/tiled_capacity.hpp"

#include <algorithm>

namespace espalier {

TiledCapacity::TiledCapacity(const std::vector<Amount>& amounts, std::int64_t stride,
                             std::int32_t leaves, std::size_t columns)
    : columns_(columns),
      most_stride_((columns + kTileLeaves - 1) / kTileLeaves * kTileLeaves),
      rows_(static_cast<std::size_t>((leaves + kTileLeaves - 1) / kTileLeaves) * columns),
      most_(columns == 0 ? 0 : rows_.size() / columns * most_stride_, 0.0F),
      exact_(columns, 1),
      shift_(columns, 0) {
  for (std::size_t column = 0; column < columns; ++column) {
    const Amount* amount = amounts.data() + static_cast<std::int64_t>(column) * stride;
    Amount largest = 0;
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf) largest = std::max(largest, amount[leaf]);
    int& shift = shift_[column];
    while ((largest >> shift) > kMaxUnits) ++shift;
  }
  // Row by row, in the order of memory.
  for (std::size_t row = 0; row < rows_.size(); ++row) {
    const std::size_t column = row % columns;
    const auto first = static_cast<std::int32_t>(row / columns) * kTileLeaves;
    const Amount* amount = amounts.data() + static_cast<std::int64_t>(column) * stride + first;
    const std::int32_t present = std::min(leaves - first, kTileLeaves);
    float* units = rows_[row].units;
    std::fill_n(units, kTileLeaves, -1.0F);
    for (std::int32_t lane = 0; lane < present; ++lane) {
      if (amount[lane] >= 0) units[lane] = static_cast<float>(amount[lane] >> shift_[column]);
    }
  }
  if (columns == 0) return;
  const auto tiles = static_cast<std::int32_t>(rows_.size() / columns);
  for (std::int32_t tile = 0; tile < tiles; ++tile) Tighten(tile);
}

void TiledCapacity::Set(std::int32_t column, std::int32_t leaf, Amount amount) {
  const auto at = static_cast<std::size_t>(column);
  Amount units = amount < 0 ? -1 : amount >> shift_[at];
  if (units > kMaxUnits) {
    exact_[at] = 0;
    units = kMaxUnits;
  }
  const auto tile = static_cast<std::size_t>(leaf / kTileLeaves);
  const auto value = static_cast<float>(units);
  rows_[tile * columns_ + at].units[leaf % kTileLeaves] = value;
  float& most = most_[tile * most_stride_ + at];
  most = std::max(most, value);
}

void TiledCapacity::Tighten(std::int32_t tile) {
  const Row* rows = rows_.data() + static_cast<std::size_t>(tile) * columns_;
  float* most = most_.data() + static_cast<std::size_t>(tile) * most_stride_;
  for (std::size_t column = 0; column < columns_; ++column) {
    const float* units = rows[column].units;
    float largest = units[0];
    for (std::int32_t lane = 1; lane < kTileLeaves; ++lane) {
      largest = largest < units[lane] ? units[lane] : largest;
    }
    most[column] = largest;
  }
}

}  // namespace espalier
