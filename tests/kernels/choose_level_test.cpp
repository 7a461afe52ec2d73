#include "kernels/decisions/choose_level.hpp"

#include <tuple>
#include <vector>

#include <gtest/gtest.h>

#include "tests/kernels/queries.hpp"

namespace espalier::choose_level_test {
namespace {

struct Chosen {
  PlacementStatus status = PlacementStatus::kDoesNotFit;
  std::int32_t level = 0;
  Count fit = 0;
  Count total = 0;
  std::vector<std::int32_t> domains;
  bool operator==(const Chosen&) const = default;
};

Chosen ChooseOn(const TeamRunner& runner, const TreeView& tree, const CountsView& counts,
                const PlacementQuery& query) {
  HandWorkspace workspace(tree);
  return runner.Ask([&](auto& team) {
    const Choice choice = ChooseLevel(team, tree, counts, query, workspace.view());
    return Chosen{choice.status, choice.level, choice.fit, choice.total, Domains(choice.domains)};
  });
}

// Chooses, and where counts can have indices of their levels, expects the same with these.
Chosen ChooseOn(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                const PlacementQuery& query) {
  CountsView view = counts.view();
  const Chosen chosen = ChooseOn(runner, tree, view, query);
  if (view.leaders != nullptr) return chosen;
  std::vector<LevelIndex> indices(static_cast<std::size_t>(tree.lowest()));
  for (std::int32_t level = 0; level < tree.lowest(); ++level) {
    SerialTeam team;
    IndexLevel(team, view, DomainsOf(tree, level), indices[static_cast<std::size_t>(level)]);
  }
  view.index = indices.data();
  EXPECT_EQ(ChooseOn(runner, tree, view, query), chosen);
  return chosen;
}

void ExpectChosen(const HandTree& tree, HandCounts counts, const PlacementQuery& query,
                  std::int32_t level, const std::vector<std::int32_t>& domains) {
  RunOnTeams([&](const TeamRunner& runner) {
    const Chosen chosen = ChooseOn(runner, tree.view(), counts, query);
    EXPECT_EQ(chosen.status, PlacementStatus::kPlaced);
    EXPECT_EQ(chosen.level, level);
    EXPECT_EQ(chosen.domains, domains);
  });
}

void ExpectMisfit(const HandTree& tree, HandCounts counts, const PlacementQuery& query,
                  std::int32_t level, Count fit, Count total) {
  RunOnTeams([&](const TeamRunner& runner) {
    const Chosen chosen = ChooseOn(runner, tree.view(), counts, query);
    EXPECT_EQ(chosen.status, PlacementStatus::kDoesNotFit);
    EXPECT_EQ(std::tuple(chosen.level, chosen.fit, chosen.total), std::tuple(level, fit, total));
  });
}

// Three sibling roots that are leaves.
struct Row {
  HandTree tree = FlatTree(3);
  TreeView view = tree.view();
  SliceRule slice = Slices(view);
};

TEST(ChooseLevelTest, R10_1_LevelWithoutDomains) {
  const HandTree tree({{0}, {}});
  HandCounts counts(tree.view());
  RunOnTeams([&](const TeamRunner& runner) {
    const Chosen chosen = ChooseOn(runner, tree.view(), counts, Required(tree.view(), 1, 3));
    EXPECT_EQ(chosen.status, PlacementStatus::kNoDomains);
    EXPECT_EQ(chosen.level, 1);
  });
}

TEST(ChooseLevelTest, R10_3_TightestSufficientDomain) {
  const Row row;
  const HandCounts counts(row.view, row.slice, {5, 9, 7});
  ExpectChosen(row.tree, counts, Required(row.view, 0, 6), 0, {2});
  ExpectChosen(row.tree, counts, Required(row.view, 0, 8), 0, {1});
  ExpectChosen(row.tree, counts, Required(row.view, 0, 0), 0, {0});
}

TEST(ChooseLevelTest, R9_1_PathOrderBreaksTies) {
  const Row row;
  ExpectChosen(row.tree, HandCounts(row.view, row.slice, {7, 7, 7}), Required(row.view, 0, 6), 0,
               {0});
}

TEST(ChooseLevelTest, R10_3_LeaderCapacityDecidesForALeader) {
  const Row row;
  const HandCounts counts(row.view, row.slice, {{6, 4}, 9, {8, 6}});
  ExpectChosen(row.tree, counts, WithLeader(Required(row.view, 0, 5)), 0, {2});
  ExpectChosen(row.tree, counts, WithLeader(Required(row.view, 0, 4)), 0, {0});
}

TEST(ChooseLevelTest, R10_7_MisfitNamesTheCapacityOfTheTop) {
  const Row row;
  ExpectMisfit(row.tree, HandCounts(row.view, row.slice, {2, 4, 3}), Required(row.view, 0, 6), 0, 4,
               6);
}

TEST(ChooseLevelTest, R10_7_OnlyTheLeaderIsInTheWay) {
  const HandTree tree({{1}, {2}});  // E10, variant
  const SliceRule slice = Slices(tree.view());
  ExpectMisfit(tree, HandCounts(tree.view(), slice, {2, 2}, {}, true),
               WithLeader(Required(tree.view(), 0, 4)), 0, 4, 4);
}

TEST(ChooseLevelTest, R10_7_RequiredFallsBackToLowerAffinity) {
  const HandTree tree({{3}, {1, 2, 2}});  // E16: r0, r1, r2
  const SliceRule slice = Slices(tree.view());
  const HandCounts scored(tree.view(), slice, {3, 4, 4, 1, 2}, {0, 0, 10, 10, 15});
  ExpectChosen(tree, scored, WithAffinity(Required(tree.view(), 0, 3)), 0, {2});
  ExpectChosen(tree, scored, WithAffinity(Required(tree.view(), 0, 4)), 0, {1});
  ExpectMisfit(tree, scored, WithAffinity(Required(tree.view(), 0, 9)), 0, 3, 9);
  // Scores consumed: the tightest of all, first in path order (R7.9).
  ExpectChosen(tree, HandCounts(tree.view(), slice, {3, 4, 4, 1, 2}),
               WithAffinity(Required(tree.view(), 0, 3)), 0, {0});
}

TEST(ChooseLevelTest, R10_8_PreferredClimbs) {
  const HandTree tree({{2}, {2, 1}});  // E2
  const SliceRule slice = Slices(tree.view());
  const HandCounts counts(tree.view(), slice, {2, 3, 4});
  ExpectChosen(tree, counts, Preferred(tree.view(), 1, 4), 1, {4});
  ExpectChosen(tree, counts, Preferred(tree.view(), 1, 5), 0, {0});
  ExpectChosen(tree, counts, Preferred(tree.view(), 1, 6), 0, {0, 1});
  ExpectMisfit(tree, counts, Preferred(tree.view(), 1, 10), 0, 9, 10);
}

TEST(ChooseLevelTest, R10_8_AffinityBeatsCompactness) {
  const HandTree tree({{1}, {2}});
  const SliceRule slice = Slices(tree.view());
  const HandCounts counts(tree.view(), slice, {2, 9}, {5, 0});
  ExpectChosen(tree, counts, WithAffinity(Preferred(tree.view(), 1, 4)), 0, {0});
}

TEST(ChooseLevelTest, R10_4_LeastFreeTakesTheSmallestSufficient) {
  const HandTree tree({{2}, {3, 2}});  // E3: a1 b2 c0, d4 e0
  const SliceRule slice = Slices(tree.view());
  const HandCounts counts(tree.view(), slice, {1, 2, 0, 4, 0});
  ExpectChosen(tree, counts, Unconstrained(tree.view(), 4), 1, {5});
  ExpectChosen(tree, counts, Unconstrained(tree.view(), 2), 1, {3});
}

TEST(ChooseLevelTest, R10_10_LeastFreeCollectsUpwards) {
  const HandTree tree({{2}, {3, 2}});
  const SliceRule slice = Slices(tree.view());
  const HandCounts counts(tree.view(), slice, {1, 2, 0, 4, 0});
  ExpectChosen(tree, counts, Unconstrained(tree.view(), 5), 1, {2, 3, 5});
}

TEST(ChooseLevelTest, R10_12_UnconstrainedStaysAtItsLevel) {
  const HandTree tree({{2}, {3, 2}});  // E3c
  const SliceRule slice = Slices(tree.view());
  ExpectMisfit(tree, HandCounts(tree.view(), slice, {1, 2, 0, 4, 0}), Unconstrained(tree.view(), 8),
               1, 7, 8);
}

TEST(ChooseLevelTest, R10_12_UnconstrainedBestFitCollects) {
  const Row row;
  PlacementQuery query = Unconstrained(row.view, 10);
  query.least_free = false;  // gate TASProfileMixed off
  ExpectChosen(row.tree, HandCounts(row.view, row.slice, {5, 9, 7}), query, 0, {1, 0});
}

TEST(ChooseLevelTest, R10_5_RequiredLeastFreeNamesTheLastDomain) {
  const Row row;
  PlacementQuery query = Unconstrained(row.view, 5);
  query.required = true;
  ExpectMisfit(row.tree, HandCounts(row.view, row.slice, {3, 1, 2}), query, 0, 3, 5);
}

TEST(ChooseLevelTest, R10_9_LastDomainOfACollectionIsTheTightest) {
  const Row row;
  ExpectChosen(row.tree, HandCounts(row.view, row.slice, {5, 4, 2}), Preferred(row.view, 0, 7), 0,
               {0, 2});
}

TEST(ChooseLevelTest, R10_9_LeadersDomainComesFirst) {
  const HandTree tree({{2}, {1, 1}});  // E10
  const SliceRule slice = Slices(tree.view());
  ExpectChosen(tree, HandCounts(tree.view(), slice, {{4, 3}, {3, 3}}),
               WithLeader(Preferred(tree.view(), 0, 7)), 0, {1, 0});
}

TEST(ChooseLevelTest, R10_9_NobodyHoldsTheLeader) {
  const Row row;
  ExpectMisfit(row.tree, HandCounts(row.view, row.slice, {5, 4, 2}, {}, true),
               WithLeader(Preferred(row.view, 0, 7)), 0, 0, 7);
}

TEST(ChooseLevelTest, R10_9_MisfitCountsWhatTheLeaderLeaves) {
  const Row row;
  ExpectMisfit(row.tree, HandCounts(row.view, row.slice, {{5, 3}, 4, 2}),
               WithLeader(Preferred(row.view, 0, 12)), 0, 9, 12);
}

TEST(ChooseLevelTest, R10_3_FewerPodsBreakTiesOfSlices) {
  const HandTree tree({{3}, {1, 1, 1}});
  const SliceRule slice = Slices(tree.view(), {{0, 4}});
  const HandCounts counts(tree.view(), slice, {11, 9, 9});
  ExpectChosen(tree, counts, Required(tree.view(), 0, 8, {{0, 4}}), 0, {1});
  ExpectMisfit(tree, counts, Required(tree.view(), 0, 12, {{0, 4}}), 0, 2, 3);
  PlacementQuery query = Required(tree.view(), 0, 12, {{0, 4}});
  query.least_free = true;
  ExpectMisfit(tree, counts, query, 0, 11, 3);
}

TEST(ChooseLevelTest, R18_4_FitAndTotalAreSlices) {
  const HandTree tree({{1}, {2}});
  const SliceRule slice = Slices(tree.view(), {{1, 2}});
  ExpectMisfit(tree, HandCounts(tree.view(), slice, {5, 3}), Required(tree.view(), 0, 9, {{1, 2}}),
               0, 3, 4);
}

TEST(ChooseLevelTest, R10_9_AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    if (n == 0) continue;
    const HandTree tree = FlatTree(n);
    std::vector<HandLeaf> leaves;
    std::vector<std::int32_t> all;
    for (std::int32_t i = 0; i < n; ++i) {
      leaves.emplace_back(Count{n - i});
      all.push_back(i);
    }
    const HandCounts counts(tree.view(), Slices(tree.view()), leaves);
    ExpectChosen(tree, counts, Preferred(tree.view(), 0, n * (n + 1) / 2), 0, all);
    ExpectMisfit(tree, counts, Preferred(tree.view(), 0, n * (n + 1) / 2 + 1), 0, n * (n + 1) / 2,
                 n * (n + 1) / 2 + 1);
  }
}

}  // namespace
}  // namespace espalier::choose_level_test
