// One whole evaluation: the worked examples of the rules, and larger seeded inputs on which every
// team must answer as SerialTeam does.
#include "kernels/decisions/place.hpp"

#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/queries.hpp"

namespace espalier::place_test {
namespace {

void ExpectPods(const HandTree& tree, HandCounts counts, const PlacementQuery& query,
                const std::vector<Count>& pods, std::int32_t leader = -1) {
  RunOnTeams([&](const TeamRunner& runner) {
    const Placed placed = PlaceOn(runner, tree.view(), counts, query);
    EXPECT_EQ(placed.status, PlacementStatus::kPlaced);
    EXPECT_EQ(placed.pods, pods);
    EXPECT_EQ(placed.leader, leader);
  });
}

void ExpectMisfit(const HandTree& tree, HandCounts counts, const PlacementQuery& query, Count fit,
                  Count total, const std::vector<Count>& layer_fits = {}) {
  RunOnTeams([&](const TeamRunner& runner) {
    const Placed placed = PlaceOn(runner, tree.view(), counts, query);
    EXPECT_EQ(placed.status, PlacementStatus::kDoesNotFit);
    EXPECT_EQ(placed.fit, fit);
    EXPECT_EQ(placed.total, total);
    EXPECT_EQ(placed.layer_fits, layer_fits);
  });
}

TEST(PlaceTest, E1_BestFitAndTheLastDomain) {
  const HandTree tree({{2}, {2, 1}, {2, 2, 1}});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {3, 3, 2, 1, 5}),
             Required(tree.view(), 0, 7), {3, 3, 0, 1, 0});
}

TEST(PlaceTest, E2_PreferredClimbsAndSplitsAnew) {
  const HandTree tree({{2}, {2, 1}});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {2, 3, 4}),
             Preferred(tree.view(), 1, 6), {2, 0, 4});
}

TEST(PlaceTest, E3_UnconstrainedFillsTheFullestFirst) {
  const HandTree tree({{2}, {3, 2}});
  const HandCounts counts(tree.view(), Slices(tree.view()), {1, 2, 0, 4, 0});
  ExpectPods(tree, counts, Unconstrained(tree.view(), 5), {1, 2, 0, 2, 0});
  ExpectPods(tree, counts, Unconstrained(tree.view(), 4), {0, 0, 0, 4, 0});
  ExpectMisfit(tree, counts, Unconstrained(tree.view(), 8), 7, 8);
}

TEST(PlaceTest, E5_HostsBelowTheSliceLevelFillFromTheSmallest) {
  const HandTree tree({{1}, {2}, {3, 2}});
  const PlacementQuery query = Required(tree.view(), 0, 9, {{1, 3}});
  ExpectPods(tree, HandCounts(tree.view(), query.slice, {4, 1, 2, 3, 3}), query, {0, 1, 2, 3, 3});
}

TEST(PlaceTest, E6_SlicesPerHost) {
  const HandTree tree({{1}, {5}});
  const std::vector<Layer> pairs = {{1, 2}};
  const HandCounts counts(tree.view(), Slices(tree.view(), pairs), {2, 3, 4, 5, 6});
  ExpectPods(tree, counts, Required(tree.view(), 0, 12, pairs), {2, 0, 4, 0, 6});
  ExpectPods(tree, counts, Unconstrained(tree.view(), 10, pairs), {2, 2, 4, 2, 0});
  ExpectPods(tree, counts, Required(tree.view(), 0, 5, pairs), {0, 0, 4, 0, 0});  // R6.9
  ExpectPods(tree, counts, Required(tree.view(), 0, 1, pairs), {0, 0, 0, 0, 0});
}

// dc > block > rack > host with layers of 8, 4 and 2 pods.
struct ThreeLayers {
  HandTree tree{{{1}, {2}, {2, 2}, {2, 2, 1, 1}}};
  TreeView view = tree.view();
  std::vector<Layer> layers = {{1, 8}, {2, 4}, {3, 2}};
  SliceRule slice = Slices(view, layers);
};

TEST(PlaceTest, E7_ThreeLayersRoundOnTheWayDown) {
  const ThreeLayers c;
  ExpectPods(c.tree, HandCounts(c.view, c.slice, {5, 3, 4, 1, 8, 7}),
             Required(c.view, 0, 16, c.layers), {2, 2, 4, 0, 4, 4});
}

TEST(PlaceTest, E8_ThreeLayersThatDoNotFit) {
  const ThreeLayers c;
  ExpectMisfit(c.tree, HandCounts(c.view, c.slice, {5, 3, 3, 1, 8, 0}),
               Required(c.view, 0, 24, c.layers), 1, 3, {1, 3, 8});
}

TEST(PlaceTest, E9_LeaderGoesWhereItCostsLeast) {
  const HandTree tree({{2}, {2, 2}});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {{4, 2}, {3, 2}, {4, 2}, {2, 0}}),
             WithLeader(Required(tree.view(), 0, 6)), {4, 2, 0, 0}, 1);
}

TEST(PlaceTest, E10_PreferredGroupAcrossRacks) {
  const HandTree tree({{2}, {1, 1}});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {{4, 3}, {3, 3}}),
             WithLeader(Preferred(tree.view(), 0, 7)), {4, 3}, 1);
  const HandTree rack({{1}, {2}});
  ExpectMisfit(rack, HandCounts(rack.view(), Slices(rack.view()), {2, 2}, {}, true),
               WithLeader(Required(rack.view(), 0, 4)), 4, 4);
}

TEST(PlaceTest, E11_ReplacementInsideOneRack) {
  const HandTree tree({{1}, {3}, {2, 2, 1}});
  const PlacementQuery query = Required(tree.view(), 0, 2, {{2, 2}});
  ExpectPods(tree, HandCounts(tree.view(), query.slice, {0, 0, 4, 3, 0}), query, {0, 0, 0, 2, 0});
}

TEST(PlaceTest, E13_BalancedOverTheBestSet) {
  const HandTree tree({{2}, {2, 1}, {3, 3, 2}});
  const HandCounts counts(tree.view(), Slices(tree.view()), {9, 7, 1, 8, 8, 1, 10, 5});
  ExpectPods(tree, counts, Balanced(Preferred(tree.view(), 1, 14)), {0, 0, 0, 7, 7, 0, 0, 0});
  // A required request does not balance: rack r3 is the tightest.
  ExpectPods(tree, counts, Balanced(Required(tree.view(), 1, 14)), {0, 0, 0, 0, 0, 0, 10, 4});
}

TEST(PlaceTest, E14_BalancedWithALeader) {
  const HandTree tree({{2}, {1, 2}});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {{3, 2}, {2, 1}, {4, 2}}),
             Balanced(WithLeader(Preferred(tree.view(), 0, 8))), {2, 2, 4}, 0);
}

TEST(PlaceTest, E15_BalancedMayLosePods) {
  const HandTree tree({{1}, {1}, {2}, {2, 3}});
  const PlacementQuery query = Preferred(tree.view(), 0, 2, {{3, 2}});
  const HandCounts counts(tree.view(), query.slice, {2, 2, 1, 1, 1});
  ExpectPods(tree, counts, Balanced(query), {0, 0, 0, 0, 0});
  ExpectPods(tree, counts, query, {2, 0, 0, 0, 0});
}

TEST(PlaceTest, E16_AffinityTiers) {
  const HandTree tree({{3}, {1, 2, 2}});
  const HandCounts counts(tree.view(), Slices(tree.view()), {3, 4, 4, 1, 2}, {0, 0, 10, 10, 15});
  ExpectPods(tree, counts, WithAffinity(Required(tree.view(), 0, 3)), {0, 0, 0, 1, 2});
  ExpectPods(tree, counts, WithAffinity(Required(tree.view(), 0, 4)), {0, 0, 4, 0, 0});
  ExpectPods(tree, counts, WithAffinity(Preferred(tree.view(), 0, 4)), {0, 0, 2, 0, 2});
  ExpectPods(tree, HandCounts(tree.view(), Slices(tree.view()), {3, 4, 4, 1, 2}),
             WithAffinity(Required(tree.view(), 0, 3)), {3, 0, 0, 0, 0});  // scores consumed
}

TEST(PlaceTest, R10_1_NoDomains) {
  const HandTree tree({{0}, {}});
  HandCounts counts(tree.view());
  RunOnTeams([&](const TeamRunner& runner) {
    const Placed placed = PlaceOn(runner, tree.view(), counts, Preferred(tree.view(), 1, 3));
    EXPECT_EQ(placed.status, PlacementStatus::kNoDomains);
    EXPECT_EQ(placed.level, 1);
  });
}

TEST(PlaceTest, R14_6_UndefinedAndOutOfStatesAreSaid) {
  const HandTree tree({{1}, {2}});
  HandCounts counts(tree.view(), Slices(tree.view()), {4, 4});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(PlaceOn(runner, tree.view(), counts, Balanced(Preferred(tree.view(), 0, 0))).status,
              PlacementStatus::kUndefined);
    EXPECT_EQ(
        PlaceOn(runner, tree.view(), counts, Balanced(Preferred(tree.view(), 0, 6)), 1).status,
        PlacementStatus::kOutOfStates);
  });
}

// One random evaluation; everything follows from the seed.
struct RandomCase {
  explicit RandomCase(Random random)
      : tree(RandomTree(random)),
        query(RandomQuery(random, tree.view())),
        counts(MakeCounts(random)) {}

  static HandTree RandomTree(Random& random) {
    const std::int64_t levels = random.Between(1, 4);
    std::vector<std::vector<std::int32_t>> children;
    std::size_t width = 1;
    for (std::int64_t level = 0; level < levels; ++level) {
      children.emplace_back();
      std::size_t next = 0;
      for (std::size_t i = 0; i < width; ++i) {
        children.back().push_back(static_cast<std::int32_t>(random.Between(1, 5)));
        next += static_cast<std::size_t>(children.back().back());
      }
      width = next;
    }
    return HandTree(children);
  }

  static PlacementQuery RandomQuery(Random& random, const TreeView& tree) {
    std::vector<Layer> layers;
    const auto level = static_cast<std::int32_t>(random.Between(0, tree.lowest()));
    auto slice_level = static_cast<std::int32_t>(random.Between(level, tree.lowest()));
    if (random.Chance(60)) {
      Count size = random.Pick({1, 2, 4, 6});
      while (slice_level <= tree.lowest()) {
        layers.push_back({slice_level, size});
        if (size % 2 != 0 || random.Chance(50)) break;
        size /= 2;
        ++slice_level;
      }
    }
    PlacementQuery query = Preferred(tree, level, random.Between(1, 60), layers);
    switch (random.Between(0, 3)) {
      case 0:
        query.required = true;
        break;
      case 1:
        query = Unconstrained(tree, query.pods, layers);
        query.least_free = random.Chance(80);
        break;
      case 2:
        query.balanced = true;
        break;
      default:
        break;
    }
    query.leaders = random.Chance(40) ? 1 : 0;
    query.affinity = random.Chance(30);
    return query;
  }

  HandCounts MakeCounts(Random& random) const {
    std::vector<HandLeaf> leaves;
    std::vector<std::int64_t> affinity;
    for (std::int32_t i = 0; i < tree.view().leaf_count(); ++i) {
      const Count pods = random.Chance(20) ? 0 : random.Between(0, 12);
      const bool leads = query.leaders > 0 && random.Chance(70);
      leaves.push_back(leads ? HandLeaf(pods, random.Between(0, pods)) : HandLeaf(pods));
      affinity.push_back(random.Pick({0, 0, 5, 10}));
    }
    if (!query.affinity) affinity.clear();
    return HandCounts(tree.view(), query.slice, leaves, affinity, query.leaders > 0);
  }

  HandTree tree;
  PlacementQuery query;
  HandCounts counts;
};

TEST(PlaceTest, EveryTeamAnswersAsOneLaneDoes) {
  int placed = 0;
  for (std::uint64_t seed = 1; seed <= 120; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    RandomCase c{Random(seed)};
    const Placed expected = PlaceOn(TeamRunner(1), c.tree.view(), c.counts, c.query);
    placed += expected.status == PlacementStatus::kPlaced ? 1 : 0;
    for (const std::int32_t lanes : {2, 3, 7}) {
      const TeamRunner runner(lanes);
      SCOPED_TRACE(runner.name());
      ASSERT_TRUE(PlaceOn(runner, c.tree.view(), c.counts, c.query) == expected);
    }
  }
  EXPECT_GT(placed, 30) << "the inputs are no test if little of them fits";
  EXPECT_LT(placed, 110) << "nor if little does not";
}

}  // namespace
}  // namespace espalier::place_test
