#include "kernels/decisions/roll_up.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::roll_up_test {
namespace {

using ::testing::ElementsAre;

// P/U of a domain, or P/U/PW/UW/LD.
struct Both {
  Count pods, slices;
  bool operator==(const Both&) const = default;
};
struct All {
  Count pods, slices, pods_with_leader, slices_with_leader, leaders;
  bool operator==(const All&) const = default;
};

// Rolls the whole tree up on a team, starting from leaves that are already counted.
void RollUpOn(const TeamRunner& runner, const TreeView& tree, const SliceRule& slice,
              HandCounts& counts) {
  const CountsView view = counts.view();
  for (std::int32_t d = 0; d < tree.LevelBegin(tree.lowest()); ++d) view.pods[d] = -1;  // stale
  runner.Run([&](auto& team) { RollUp(team, tree, slice, view, 0, {0, tree.LevelEnd(0)}); });
}

std::vector<Both> Level(const TreeView& tree, const CountsView& view, std::int32_t level) {
  std::vector<Both> seen;
  for (std::int32_t d = tree.LevelBegin(level); d < tree.LevelEnd(level); ++d) {
    seen.push_back({view.pods[d], view.slices[d]});
  }
  return seen;
}

All Domain(const CountsView& view, std::int32_t d) {
  return {view.pods[d], view.slices[d], view.pods_with_leader[d], view.slices_with_leader[d],
          view.Leaders(d)};
}

TEST(RollUpTest, R8_2_SumsWithoutSlices) {
  const HandTree tree({{2}, {2, 1}, {2, 2, 1}});  // E1
  const SliceRule slice = Slices(tree.view());
  HandCounts counts(tree.view(), slice, {3, 3, 2, 1, 5});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_THAT(Level(tree.view(), counts.view(), 0), ElementsAre(Both{9, 9}, Both{5, 5}));
    EXPECT_THAT(Level(tree.view(), counts.view(), 1),
                ElementsAre(Both{6, 6}, Both{3, 3}, Both{5, 5}));
  });
}

TEST(RollUpTest, R8_4_SlicesAboveTheSliceLevelAreSums) {
  const HandTree tree({{1}, {2}, {3, 2}});  // E5: slices of 3 per rack
  const SliceRule slice = Slices(tree.view(), {{1, 3}});
  HandCounts counts(tree.view(), slice, {4, 1, 2, 3, 3});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_THAT(Level(tree.view(), counts.view(), 1), ElementsAre(Both{7, 2}, Both{6, 2}));
    EXPECT_THAT(Level(tree.view(), counts.view(), 0), ElementsAre(Both{13, 4}));  // not 13 / 3
  });
}

TEST(RollUpTest, R8_2_InnerLayersRoundEveryChildDown) {
  const HandTree tree({{1}, {2}, {2, 2}, {2, 2, 1, 1}});  // E7
  const SliceRule slice = Slices(tree.view(), {{1, 8}, {2, 4}, {3, 2}});
  HandCounts counts(tree.view(), slice, {5, 3, 4, 1, 8, 7});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_THAT(Level(tree.view(), counts.view(), 2),
                ElementsAre(Both{6, 0}, Both{4, 0}, Both{8, 0}, Both{6, 0}));
    EXPECT_THAT(Level(tree.view(), counts.view(), 1), ElementsAre(Both{8, 1}, Both{12, 1}));
    EXPECT_THAT(Level(tree.view(), counts.view(), 0), ElementsAre(Both{20, 2}));
  });
}

TEST(RollUpTest, R8_2_LeaderSitsWhereItCostsLeast) {
  const HandTree tree({{2}, {2, 2}});  // E9
  const SliceRule slice = Slices(tree.view());
  HandCounts counts(tree.view(), slice, {{4, 2}, {3, 2}, {4, 2}, {2, 0}});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_EQ(Domain(counts.view(), 0), (All{7, 7, 6, 6, 1}));
    EXPECT_EQ(Domain(counts.view(), 1), (All{6, 6, 4, 4, 1}));
  });
}

TEST(RollUpTest, R8_2_WithoutACarrierNothingIsLeftForALeader) {
  const HandTree tree({{2}, {2, 1}});
  const SliceRule slice = Slices(tree.view());
  HandCounts counts(tree.view(), slice, {4, 3, {5, 1}});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_EQ(Domain(counts.view(), 0), (All{7, 7, 0, 0, 0}));
    EXPECT_EQ(Domain(counts.view(), 1), (All{5, 5, 1, 1, 1}));
  });
}

// Children that cannot hold the leader do not lower its cost.
TEST(RollUpTest, R8_2_OnlyCarriersCount) {
  const HandTree tree({{1}, {2}});
  const SliceRule slice = Slices(tree.view());
  HandCounts counts(tree.view(), slice, {9, {5, 2}});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_EQ(Domain(counts.view(), 0), (All{14, 14, 11, 11, 1}));
  });
}

TEST(RollUpTest, R8_3_PodsAndSlicesLoseLeastIndependently) {
  const HandTree tree({{1}, {2}});
  const SliceRule slice = Slices(tree.view(), {{1, 4}});
  // The first host loses one pod and with it a slice, the second two pods and no slice.
  HandCounts counts(tree.view(), slice, {{4, 3}, {7, 5}});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    EXPECT_EQ(Domain(counts.view(), 0), (All{11, 2, 10, 2, 1}));
  });
}

TEST(RollUpTest, R8_2_InnerLayersRoundTheLeaderSideToo) {
  const HandTree tree({{1}, {1}, {2}});
  const SliceRule slice = Slices(tree.view(), {{1, 4}, {2, 2}});
  HandCounts counts(tree.view(), slice, {{5, 3}, {4, 3}});
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), slice, counts);
    // Whole pairs: 4 of 5 against 2 of 3, and 4 against 2 of 3.
    EXPECT_EQ(Domain(counts.view(), 1), (All{8, 2, 6, 1, 1}));
    EXPECT_EQ(Domain(counts.view(), 0), (All{8, 2, 6, 1, 1}));
  });
}

TEST(RollUpTest, R14_7_OnlyTheRunAndWhatLiesBelow) {
  const HandTree tree({{2}, {1, 2}, {1, 1, 1}});
  const SliceRule slice = Slices(tree.view());
  RunOnTeams([&](const TeamRunner& runner) {
    HandCounts counts(tree.view(), slice, {1, 2, 3});
    const CountsView view = counts.view();
    for (std::int32_t d = 0; d < 5; ++d) view.pods[d] = 99;
    runner.Run([&](auto& team) { RollUp(team, tree.view(), slice, view, 1, {3, 5}); });
    EXPECT_THAT(std::vector(view.pods, view.pods + 5), ElementsAre(99, 99, 99, 2, 3));
  });
}

TEST(RollUpTest, AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    if (n == 0) continue;
    const HandTree tree({{1}, {n}, std::vector<std::int32_t>(static_cast<std::size_t>(n), 2)});
    const SliceRule slice = Slices(tree.view());
    std::vector<HandLeaf> leaves;
    for (std::int32_t i = 0; i < 2 * n; ++i) leaves.emplace_back(Count{i});
    HandCounts counts(tree.view(), slice, leaves);
    RunOnTeams([&](const TeamRunner& runner) {
      RollUpOn(runner, tree.view(), slice, counts);
      EXPECT_EQ(counts.view().pods[0], n * (2 * n - 1));
      for (std::int32_t rack = 0; rack < n; ++rack) {
        EXPECT_EQ(counts.view().pods[1 + rack], 4 * rack + 1);
      }
    });
  }
}

TEST(RollUpTest, EmptyTreeRollsUpToNothing) {
  const HandTree tree({{0}, {}});
  HandCounts counts(tree.view());
  RunOnTeams([&](const TeamRunner& runner) {
    RollUpOn(runner, tree.view(), Slices(tree.view()), counts);
  });
}

}  // namespace
}  // namespace espalier::roll_up_test
