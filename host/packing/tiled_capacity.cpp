#include "host/packing/tiled_capacity.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include "host/packing/parts.hpp"

namespace espalier {

// Units are -1 or more: their bits are in order as integers are, which a compiler finds the largest
// of in vectors.
float TiledCapacity::MostIn(const Row& row) {
  std::int32_t bits[kTileLeaves];
  std::memcpy(bits, row.units, sizeof(bits));
  std::int32_t most = bits[0];
  for (const std::int32_t lane : bits) most = std::max(most, lane);
  return std::bit_cast<float>(most);
}

TiledCapacity::TiledCapacity(const std::vector<Amount>& amounts, std::int64_t stride,
                             std::int32_t leaves, std::size_t columns)
    : columns_(columns),
      rows_(static_cast<std::size_t>((leaves + kTileLeaves - 1) / kTileLeaves) * columns),
      most_(static_cast<std::size_t>((leaves + kTileLeaves * kTileLeaves - 1) /
                                     (kTileLeaves * kTileLeaves)) *
            columns),
      exact_(columns, 1),
      shift_(columns, 0) {
  ForEachPart(columns, amounts.size(), [&](std::size_t column) {
    const Amount* amount = amounts.data() + static_cast<std::int64_t>(column) * stride;
    Amount largest = 0;
    for (std::int32_t leaf = 0; leaf < leaves; ++leaf) largest = std::max(largest, amount[leaf]);
    int& shift = shift_[column];
    while ((largest >> shift) > kMaxUnits) ++shift;
  });
  // Row by row, in the order of memory.
  constexpr std::size_t kRows = 4096;  // of a part
  ForEachPart((rows_.size() + kRows - 1) / kRows, amounts.size(), [&](std::size_t part) {
    const std::size_t end = std::min((part + 1) * kRows, rows_.size());
    for (std::size_t row = part * kRows; row < end; ++row) {
      const std::size_t column = row % columns;
      const auto first = static_cast<std::int32_t>(row / columns) * kTileLeaves;
      const Amount* amount = amounts.data() + static_cast<std::int64_t>(column) * stride + first;
      const std::int32_t present = std::min(leaves - first, kTileLeaves);
      float* units = rows_[row].units;
      std::fill_n(units, kTileLeaves, -1.0F);
      for (std::int32_t lane = 0; lane < present; ++lane) {
        if (amount[lane] >= 0) units[lane] = static_cast<float>(amount[lane] >> shift_[column]);
      }
      const std::size_t tile = row / columns;
      most_[tile / kTileLeaves * columns + column].units[tile % kTileLeaves] = MostIn(rows_[row]);
    }
  });
}

}  // namespace espalier
