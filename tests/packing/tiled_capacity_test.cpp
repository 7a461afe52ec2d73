// Tiles follow the amounts they are of.
#include "host/packing/tiled_capacity.hpp"

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"

namespace espalier::tiled_capacity_test {
namespace {

// Leaves set one by one and many of a tile at once, up and down, beside tiles made of the same
// amounts.
TEST(TiledCapacityTest, SetKeepsUnitsAndTheMostOfEachTile) {
  constexpr std::int32_t kLeaves = 300;  // the last tile and the last group of tiles are not full
  constexpr std::int32_t kColumns = 3;
  constexpr std::int64_t kStride = 304;
  const std::vector<Amount> magnitudes = {9, 1000, Amount{1} << 40};
  Random random(3);
  const auto amount_of = [&](std::size_t column) { return random.Between(-2, magnitudes[column]); };
  std::vector<Amount> amounts(kStride * kColumns, 0);
  for (std::size_t i = 0; i < amounts.size(); ++i) amounts[i] = amount_of(i / kStride);
  TiledCapacity tiles(amounts, kStride, kLeaves, magnitudes);
  for (std::size_t i = 0; i < kColumns; ++i) {
    Amount min_tile_max = magnitudes[i];
    for (std::size_t tile = 0; tile * 16 < kLeaves; ++tile) {
      const Amount* first = amounts.data() + i * kStride + tile * 16;
      const std::size_t size = std::min<std::size_t>(16, kLeaves - tile * 16);
      min_tile_max = std::min(min_tile_max, *std::max_element(first, first + size));
    }
    const int shift = tiles.UnitShift(static_cast<std::int32_t>(i));
    EXPECT_EQ(tiles.MinTileMax()[i], static_cast<float>(min_tile_max >> shift));
  }
  for (int step = 0; step < 300; ++step) {
    const std::int64_t first = random.Between(0, kLeaves - 1);
    const auto column = static_cast<std::size_t>(random.Between(0, kColumns - 1));
    std::vector<TiledCapacity::LeafAmount> changes;
    for (std::int64_t leaf = first; leaf < kLeaves && leaf / 16 == first / 16; ++leaf) {
      if (!changes.empty() && random.Chance(50)) continue;
      Amount& amount = amounts[column * kStride + static_cast<std::size_t>(leaf)];
      amount = random.Chance(30) ? 0 : amount_of(column);
      changes.push_back({static_cast<std::int32_t>(leaf), amount});
    }
    tiles.Set(static_cast<std::int32_t>(column), changes);
    const TiledCapacity expected(amounts, kStride, kLeaves, magnitudes);
    const std::size_t rows = static_cast<std::size_t>(kLeaves + 15) / 16 * tiles.tile_stride();
    ASSERT_TRUE(std::equal(tiles.Tile(0), tiles.Tile(0) + rows, expected.Tile(0)));
    const std::size_t bounds = 2 * tiles.tile_stride();
    ASSERT_TRUE(std::equal(tiles.Most(), tiles.Most() + bounds, expected.Most()));
    for (std::size_t i = 0; i < kColumns; ++i) {
      ASSERT_LE(tiles.MinTileMax()[i], expected.MinTileMax()[i]);
    }
  }
}

}  // namespace
}  // namespace espalier::tiled_capacity_test
