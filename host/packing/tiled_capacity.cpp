#include "host/packing/tiled_capacity.hpp"

#include <algorithm>

namespace espalier {

TiledCapacity::TiledCapacity(const std::vector<Amount>& amounts, std::int64_t stride,
                             std::int32_t leaves, std::size_t columns)
    : columns_(columns),
      rows_(static_cast<std::size_t>((leaves + kTileLeaves - 1) / kTileLeaves) * columns),
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
}

}  // namespace espalier
