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

TiledCapacity::TiledCapacity(std::span<const Amount> amounts, std::int64_t stride,
                             std::int32_t leaves, std::span<const Amount> magnitudes)
    : columns_(magnitudes.size()),
      tiles_(static_cast<std::size_t>((leaves + kTileLeaves - 1) / kTileLeaves)),
      rows_((tiles_ + (tiles_ + kTileLeaves - 1) / kTileLeaves) * columns_),
      least_most_(columns_, static_cast<float>(kMaxUnits)),
      exact_(columns_, 1),
      shift_(columns_, 0) {
  for (std::size_t column = 0; column < columns_; ++column) {
    while ((magnitudes[column] >> shift_[column]) > kMaxUnits) ++shift_[column];
  }
  const auto groups = rows_.begin() + static_cast<std::ptrdiff_t>(tiles_ * columns_);
  Row most_possible;
  std::ranges::fill(most_possible.units, static_cast<float>(kMaxUnits));
  std::fill(groups, rows_.end(), most_possible);
  // Tile by tile, in the order of memory.
  constexpr std::size_t kTiles = 512;  // of a part
  ForEachPart((tiles_ + kTiles - 1) / kTiles, amounts.size(), [&](std::size_t part) {
    for (std::size_t tile = part * kTiles; tile < std::min((part + 1) * kTiles, tiles_); ++tile) {
      const std::size_t first = tile * kTileLeaves;
      const std::size_t present =
          std::min<std::size_t>(static_cast<std::size_t>(leaves) - first, kTileLeaves);
      for (std::size_t column = 0; column < columns_; ++column) {
        const Amount* amount = amounts.data() + column * static_cast<std::size_t>(stride) + first;
        std::int32_t units[kTileLeaves];
        std::fill_n(units, kTileLeaves, -1);
        for (std::size_t lane = 0; lane < present; ++lane) {
          units[lane] =
              static_cast<std::int32_t>(std::max(amount[lane], Amount{-1}) >> shift_[column]);
        }
        Row& row = rows_[tile * columns_ + column];
        std::ranges::copy(units, row.units);
        MostOf(tile, column) = static_cast<float>(*std::ranges::max_element(units));
      }
    }
  });
  for (auto row = groups; row != rows_.end(); ++row) {
    float& least = least_most_[static_cast<std::size_t>(row - groups) % columns_];
    for (const float most : row->units) least = std::min(least, most);
  }
}

}  // namespace espalier
