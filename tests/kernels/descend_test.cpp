#include "kernels/decisions/descend.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/queries.hpp"

namespace espalier::descend_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

// One level of the descent from `current`.
std::vector<HandShare> StepOn(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                              const PlacementQuery& query, std::int32_t level,
                              std::vector<Share> current, bool pooled) {
  HandWorkspace workspace(tree);
  return runner.Ask([&](auto& team) {
    const ShareList from{current.data(), static_cast<std::int32_t>(current.size())};
    ShareList next{workspace.view().next, 0};
    const StoredCounts source{counts.view()};
    if (pooled) {
      DescendPooled(team, tree, source, query, level, from, workspace.view(), next);
    } else {
      DescendPerParent(team, tree, source, query, level, from, workspace.view(), next);
    }
    return Shares(next);
  });
}

TEST(DescendTest, R13_2_PooledPhaseForgetsTheSplitBetweenParents) {
  const HandTree tree({{2}, {2, 1}});  // E2: 5 and 1 become 2 and 4
  HandCounts counts(tree.view(), Slices(tree.view()), {2, 3, 4});
  const PlacementQuery query = Preferred(tree.view(), 1, 6);
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(StepOn(runner, tree.view(), counts, query, 0, {{0, 0, 5}, {1, 0, 1}}, true),
                ElementsAre(HandShare{4, 0, 4}, HandShare{2, 0, 2}));
  });
}

TEST(DescendTest, R13_3_EachParentServesItsOwnChildrenInOrder) {
  const HandTree tree({{1}, {2}, {3, 2}});  // E5: racks r2 then r1
  const PlacementQuery query = Required(tree.view(), 0, 9, {{1, 3}});
  HandCounts counts(tree.view(), query.slice, {4, 1, 2, 3, 3});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(StepOn(runner, tree.view(), counts, query, 1, {{2, 0, 6}, {1, 0, 3}}, false),
                ElementsAre(HandShare{6, 0, 3}, HandShare{7, 0, 3}, HandShare{4, 0, 1},
                            HandShare{5, 0, 2}));
  });
}

TEST(DescendTest, R13_5_SlicesAreRecomputedAfterSorting) {
  const HandTree tree({{1}, {2}, {2, 2}, {2, 2, 1, 1}});  // E7, hosts of r2 then r1
  const PlacementQuery query = Required(tree.view(), 0, 16, {{1, 8}, {2, 4}, {3, 2}});
  HandCounts counts(tree.view(), query.slice, {5, 3, 4, 1, 8, 7});
  RunOnTeams([&](const TeamRunner& runner) {
    // a4 offers no whole pair; a2 sorts before a1 although it has fewer pairs.
    EXPECT_THAT(StepOn(runner, tree.view(), counts, query, 2, {{4, 0, 4}, {3, 0, 4}}, false),
                ElementsAre(HandShare{10, 0, 0}, HandShare{9, 0, 4}, HandShare{8, 0, 2},
                            HandShare{7, 0, 2}));
  });
}

TEST(DescendTest, R13_3_ParentsWithNothingAreSkipped) {
  const HandTree tree({{2}, {1, 1}});
  HandCounts counts(tree.view(), Slices(tree.view(), {{0, 1}}), {4, 4});
  const PlacementQuery query = Required(tree.view(), 0, 3, {{0, 1}});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(StepOn(runner, tree.view(), counts, query, 0, {{0, 0, 0}, {1, 0, 3}}, false),
                ElementsAre(HandShare{3, 0, 3}));
  });
}

TEST(DescendTest, R13_3_LeaderWithoutWorkersStillFindsAHost) {
  const HandTree tree({{1}, {2}});
  HandCounts counts(tree.view(), Slices(tree.view(), {{0, 1}}), {{2, 1}, 3});
  const PlacementQuery query = WithLeader(Required(tree.view(), 0, 0, {{0, 1}}));
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(StepOn(runner, tree.view(), counts, query, 0, {{0, 1, 0}}, false),
                ElementsAre(HandShare{1, 1, 0}));
  });
}

TEST(DescendTest, R13_4_SizeHandedToTheLevelBelow) {
  const HandTree tree({{1}, {1}, {1}, {1}, {1}});
  PlacementQuery query = Preferred(tree.view(), 0, 16, {{1, 8}, {3, 2}});
  EXPECT_EQ(DescentSize(query, 0), 8);  // above the slice level: only after balanced placement
  EXPECT_EQ(DescentSize(query, 1), 2);
  EXPECT_EQ(DescentSize(query, 2), 2);
  EXPECT_EQ(DescentSize(query, 3), 1);
}

// The whole way down from a chosen set.
std::vector<HandShare> DescendOn(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                                 const PlacementQuery& query, std::int32_t level,
                                 const std::vector<std::int32_t>& chosen, bool balanced) {
  HandWorkspace workspace(tree);
  std::vector<Candidate> candidates;
  for (const std::int32_t d : chosen) candidates.push_back(MakeCandidate(counts.view(), d));
  return runner.Ask([&](auto& team) {
    return Shares(Descend(team, tree, StoredCounts{counts.view()}, query, level, ListOf(candidates),
                          balanced, workspace.view()));
  });
}

TEST(DescendTest, R13_1_FromTheChosenSetToTheLeaves) {
  const HandTree tree({{2}, {2, 1}, {2, 2, 1}});  // E1
  HandCounts counts(tree.view(), Slices(tree.view()), {3, 3, 2, 1, 5});
  const PlacementQuery query = Required(tree.view(), 0, 7);
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(DescendOn(runner, tree.view(), counts, query, 0, {0}, false),
                ElementsAre(HandShare{5, 0, 3}, HandShare{6, 0, 3}, HandShare{8, 0, 1}));
  });
}

TEST(DescendTest, R13_1_LeavesAreChosenAsTheyAre) {
  const HandTree tree = FlatTree(3);
  HandCounts counts(tree.view(), Slices(tree.view()), {3, 4, 5});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(DescendOn(runner, tree.view(), counts, Required(tree.view(), 0, 4), 0, {1}, false),
                ElementsAre(HandShare{1, 0, 4}));
  });
}

TEST(DescendTest, R14_19_WholeSlicesMayBeLostAfterBalancedPlacement) {
  const HandTree tree({{1}, {1}, {2}, {2, 3}});  // E15
  const PlacementQuery query = Preferred(tree.view(), 0, 2, {{3, 2}});
  HandCounts counts(tree.view(), query.slice, {2, 2, 1, 1, 1});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(DescendOn(runner, tree.view(), counts, query, 1, {1}, true), IsEmpty());
    EXPECT_THAT(DescendOn(runner, tree.view(), counts, query, 1, {1}, false),
                ElementsAre(HandShare{4, 0, 2}));
  });
}

}  // namespace
}  // namespace espalier::descend_test
