// Leaves are of one class where they are equal, and states know the classes that are still true.
#include "host/packing/leaf_classes.hpp"

#include <algorithm>
#include <numeric>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::leaf_classes_test {
namespace {

constexpr std::size_t kTile = TiledCapacity::kTileLeaves;

std::vector<float> UnitsOf(const float* tiles, std::size_t columns, std::size_t leaf) {
  std::vector<float> units;
  for (std::size_t column = 0; column < columns; ++column) {
    units.push_back(tiles[(leaf / kTile * columns + column) * kTile + leaf % kTile]);
  }
  return units;
}

TEST(LeafClassesTest, EqualLeavesAreOfOneClass) {
  Random random(5);
  for (const std::int32_t leaves : {1, 2, 15, 16, 17, 64, 300, 1000, 40001}) {
    SCOPED_TRACE(leaves);
    const auto columns = static_cast<std::size_t>(random.Between(1, leaves > 1000 ? 4 : 9));
    const std::vector<Amount> magnitudes(columns, Amount{1} << 40);
    const auto stride = static_cast<std::size_t>(leaves);
    std::vector<Amount> amounts(stride * columns);
    for (Amount& amount : amounts) amount = random.Pick<Amount>({-2, 0, Amount{1} << 33});
    // Runs of equal leaves.
    for (std::size_t leaf = 1; leaf < stride; ++leaf) {
      if (columns < 4 || random.Chance(10)) continue;
      for (std::size_t column = 0; column < columns; ++column) {
        amounts[column * stride + leaf] = amounts[column * stride + leaf - 1];
      }
    }
    const TiledCapacity tiles(amounts, leaves, leaves, magnitudes);
    const auto classes = LeafClasses::Find(tiles, leaves);
    ASSERT_NE(classes, nullptr);
    ASSERT_EQ(classes->of_leaf().size(), (stride + kTile - 1) / kTile * kTile);
    std::vector<std::int32_t> found(classes->leaves().size(), 0);
    for (std::size_t leaf = 0; leaf < stride; ++leaf) {
      const std::size_t of_leaf = classes->of_leaf()[leaf];
      ++found.at(of_leaf);
      ASSERT_EQ(UnitsOf(classes->tiles(), columns, of_leaf), UnitsOf(tiles.Tile(0), columns, leaf));
    }
    EXPECT_TRUE(std::ranges::equal(classes->leaves(), found));
    for (std::size_t a = 0; a < found.size(); ++a) {
      for (std::size_t b = 0; b < a; ++b) {
        ASSERT_NE(UnitsOf(classes->tiles(), columns, a), UnitsOf(classes->tiles(), columns, b));
      }
    }
    for (std::size_t leaf = stride; leaf < classes->of_leaf().size(); ++leaf) {
      EXPECT_EQ(classes->of_leaf()[leaf], classes->count());
    }
  }
}

TEST(LeafClassesTest, NoneWhereTooManyDifferOrNothingIsThere) {
  for (const std::int32_t distinct : {255, 256}) {
    std::vector<Amount> amounts(1000);
    std::iota(amounts.begin(), amounts.end(), 0);
    for (Amount& amount : amounts) amount %= distinct;
    const TiledCapacity tiles(amounts, 1000, 1000, std::vector<Amount>{distinct});
    const auto classes = LeafClasses::Find(tiles, 1000);
    EXPECT_EQ(classes == nullptr ? 0 : classes->count(), distinct == 255 ? 255 : 0);
  }
  // Few in each part that is looked at alone, and too many of all.
  std::vector<Amount> amounts(50000);
  for (std::size_t leaf = 0; leaf < amounts.size(); ++leaf) {
    amounts[leaf] = static_cast<Amount>(leaf / 16384 * 100 + leaf % 100);
  }
  const TiledCapacity tiles(amounts, 50000, 50000, std::vector<Amount>{400});
  EXPECT_EQ(LeafClasses::Find(tiles, 50000), nullptr);
  EXPECT_EQ(LeafClasses::Find(tiles, 32768)->count(), 200);
  EXPECT_EQ(LeafClasses::Find(TiledCapacity({}, 0, 0, std::vector<Amount>{1}), 0), nullptr);
  EXPECT_EQ(LeafClasses::Find(TiledCapacity({}, 16, 16, {}), 16), nullptr);
}

TEST(LeafClassesTest, StatesKnowThoseThatAreStillTrue) {
  ClusterState state = BuildState(Gpus({{"r1/a", 4}, {"r1/b", 4}, {"r2/c", 4}, {"r2/d", 6}}));
  FlavorState& flavor = *state.Find("tas");
  const auto classes = flavor.classes();
  ASSERT_NE(classes, nullptr);
  EXPECT_TRUE(std::ranges::equal(classes->leaves(), std::vector<std::int32_t>{3, 1}));
  const auto of_stamp = [](const FlavorState& of, std::size_t block) {
    return of.stamps().of_group()[block] <= of.classes_stamp();
  };
  EXPECT_EQ(state.Clone().Find("tas")->classes(), classes);
  EXPECT_TRUE(of_stamp(*state.Clone().Find("tas"), 0));
  EXPECT_TRUE(of_stamp(flavor, 0));
  flavor.Add(LeafId(0), {{"gpu", 1}});
  EXPECT_EQ(flavor.classes(), classes);
  EXPECT_FALSE(of_stamp(flavor, 0)) << "not true of the rack that changed";
  EXPECT_TRUE(of_stamp(flavor, 1));
  EXPECT_EQ(state.Branch().Find("tas")->classes(), classes);
  EXPECT_FALSE(of_stamp(*state.Branch().Find("tas"), 0));
  EXPECT_TRUE(of_stamp(*state.Branch().Find("tas"), 1));
  EXPECT_EQ(state.Clone().Find("tas")->classes(), nullptr) << "its stamps do not tell";
  flavor.ClassifyLeaves();
  EXPECT_TRUE(std::ranges::equal(flavor.classes()->leaves(), std::vector<std::int32_t>{1, 2, 1}));
  EXPECT_TRUE(of_stamp(flavor, 0));
  EXPECT_TRUE(of_stamp(*state.Branch().Find("tas"), 0));
  EXPECT_EQ(state.Clone().Find("tas")->classes(), flavor.classes());
}

}  // namespace
}  // namespace espalier::leaf_classes_test
