#include "kernels/decisions/balanced.hpp"

#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/queries.hpp"

namespace espalier::balanced_test {
namespace {

using ::testing::ElementsAre;

struct Balance {
  BalancedStatus status = BalancedStatus::kNotApplicable;
  std::int32_t level = -1;
  std::vector<std::tuple<std::int32_t, Count, std::int32_t>> domains;  // id, slices, leaders
  bool operator==(const Balance&) const = default;
};

Balance BalanceOn(const TeamRunner& runner, const TreeView& tree, HandCounts& counts,
                  const PlacementQuery& query, std::int32_t states = 10'000) {
  HandWorkspace workspace(tree, states);
  return runner.Ask([&](auto& team) {
    Choice choice;
    CountsView pruned;
    Balance balance;
    balance.status = ChooseBalanced(team, tree, counts.view(), Balanced(query), workspace.view(),
                                    choice, pruned);
    if (balance.status != BalancedStatus::kChosen) return balance;
    balance.level = choice.level;
    for (std::int32_t i = 0; i < choice.domains.size; ++i) {
      const Candidate& d = choice.domains[i];
      balance.domains.emplace_back(d.domain, d.slices, d.leaders);
    }
    return balance;
  });
}

// E13: two blocks of racks of hosts.
struct TwoBlocks {
  HandTree tree{{{2}, {2, 1}, {3, 3, 2}}};
  TreeView view = tree.view();
  HandCounts counts{view, Slices(view), {9, 7, 1, 8, 8, 1, 10, 5}};
};

TEST(BalancedTest, R14_11_SpreadsOverTheBestSet) {
  TwoBlocks cluster;
  RunOnTeams([&](const TeamRunner& runner) {
    const Balance balance =
        BalanceOn(runner, cluster.view, cluster.counts, Preferred(cluster.view, 1, 14));
    EXPECT_EQ(balance.status, BalancedStatus::kChosen);
    EXPECT_EQ(balance.level, 2);
    // Hosts a4 and a5 of rack r2, whose children have the higher entropy.
    EXPECT_THAT(balance.domains, ElementsAre(std::tuple(8, 7, 0), std::tuple(9, 7, 0)));
  });
}

TEST(BalancedTest, R14_2_RolledUpCountsStayUntouched) {
  TwoBlocks cluster;
  const CountsView view = cluster.counts.view();
  const std::vector<Count> before(view.pods, view.pods + cluster.view.domain_count());
  RunOnTeams([&](const TeamRunner& runner) {
    BalanceOn(runner, cluster.view, cluster.counts, Preferred(cluster.view, 1, 14));
    EXPECT_EQ(std::vector<Count>(view.pods, view.pods + cluster.view.domain_count()), before);
  });
}

TEST(BalancedTest, R14_1_OnlyForPreferredRequests) {
  TwoBlocks cluster;
  RunOnTeams([&](const TeamRunner& runner) {
    for (const PlacementQuery& query :
         {Required(cluster.view, 1, 14), Unconstrained(cluster.view, 14)}) {
      EXPECT_EQ(BalanceOn(runner, cluster.view, cluster.counts, query).status,
                BalancedStatus::kNotApplicable);
    }
  });
}

TEST(BalancedTest, R14_6_UndefinedBelowOneSlice) {
  TwoBlocks cluster;
  const PlacementQuery query = Preferred(cluster.view, 1, 1, {{2, 2}});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(BalanceOn(runner, cluster.view, cluster.counts, query).status,
              BalancedStatus::kUndefined);
  });
  const HandTree empty({{0}, {}});  // R10.1 answers there
  HandCounts no_counts(empty.view());
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(BalanceOn(runner, empty.view(), no_counts, Preferred(empty.view(), 0, 0)).status,
              BalancedStatus::kNotApplicable);
  });
}

TEST(BalancedTest, R14_3_NoSetHoldsTheRequest) {
  TwoBlocks cluster;
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(
        BalanceOn(runner, cluster.view, cluster.counts, Preferred(cluster.view, 1, 40)).status,
        BalancedStatus::kNotApplicable);
  });
}

TEST(BalancedTest, R14_8_ThresholdIsLoweredForTheLeader) {
  const HandTree tree({{2}, {1, 2}});  // E14
  HandCounts counts(tree.view(), Slices(tree.view()), {{3, 2}, {2, 1}, {4, 2}});
  RunOnTeams([&](const TeamRunner& runner) {
    const Balance balance =
        BalanceOn(runner, tree.view(), counts, WithLeader(Preferred(tree.view(), 0, 8)));
    EXPECT_EQ(balance.level, 1);
    EXPECT_THAT(balance.domains,
                ElementsAre(std::tuple(2, 2, 1), std::tuple(4, 4, 0), std::tuple(3, 2, 0)));
  });
}

TEST(BalancedTest, R14_10_SliceLevelAboveTheLeavesNeverBalances) {
  TwoBlocks cluster;
  const PlacementQuery query = Preferred(cluster.view, 1, 14, {{1, 7}});
  HandCounts counts(cluster.view, query.slice, {9, 7, 1, 8, 8, 1, 10, 5});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(BalanceOn(runner, cluster.view, counts, query).status,
              BalancedStatus::kNotApplicable);
  });
}

TEST(BalancedTest, R14_9_HigherThresholdThenFewerDomainsThenPath) {
  const HandTree tree({{3}, {2, 3, 1}});
  // One host each of: 4+4 (T 4), 3+3+3 (T 2), 9 (T 8).
  HandCounts counts(tree.view(), Slices(tree.view()), {4, 4, 3, 3, 3, 9});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(BalanceOn(runner, tree.view(), counts, Preferred(tree.view(), 1, 8)).domains,
                ElementsAre(std::tuple(8, 8, 0)));
  });
  HandCounts twins(tree.view(), Slices(tree.view()), {4, 4, 4, 4, 0, 0});
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(BalanceOn(runner, tree.view(), twins, Preferred(tree.view(), 1, 8)).domains,
                ElementsAre(std::tuple(3, 4, 0), std::tuple(4, 4, 0)));
  });
}

TEST(BalancedTest, OutOfStatesIsSaid) {
  TwoBlocks cluster;
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(
        BalanceOn(runner, cluster.view, cluster.counts, Preferred(cluster.view, 1, 14), 1).status,
        BalancedStatus::kOutOfStates);
  });
}

TEST(BalancedTest, R14_7_PruneClearsWhatIsBelowTheThreshold) {
  const HandTree tree({{1}, {2}, {2, 2}});
  const PlacementQuery query = WithLeader(Preferred(tree.view(), 0, 8));
  RunOnTeams([&](const TeamRunner& runner) {
    HandCounts counts(tree.view(), query.slice, {{4, 1}, {3, 1}, {1, 0}, {1, 1}});
    const CountsView view = counts.view();
    runner.Run([&](auto& team) { PruneSet(team, tree.view(), view, query, {0, 1}, 5); });
    // Rack 1 has 7 slices, 5 beside a leader; rack 2 has 2 and goes with its hosts.
    EXPECT_THAT(std::vector<Count>(view.pods, view.pods + 7), ElementsAre(7, 7, 0, 4, 3, 0, 0));
    EXPECT_EQ(view.Leaders(1), 1);
    EXPECT_EQ(view.Leaders(2), 0);
    EXPECT_EQ(view.slices_with_leader[0], 5);
  });
}

TEST(BalancedTest, R14_7_PruneKeepsWorkersWhereOnlyTheLeaderIsTooMuch) {
  const HandTree tree({{1}, {2}});
  const PlacementQuery query = WithLeader(Preferred(tree.view(), 0, 8));
  RunOnTeams([&](const TeamRunner& runner) {
    HandCounts counts(tree.view(), query.slice, {{6, 4}, {7, 5}});
    const CountsView view = counts.view();
    runner.Run([&](auto& team) { PruneSet(team, tree.view(), view, query, {0, 1}, 5); });
    EXPECT_THAT(std::vector<Count>(view.pods, view.pods + 3), ElementsAre(13, 6, 7));
    EXPECT_EQ(view.Leaders(1), 0);
    EXPECT_EQ(view.slices_with_leader[1], 0);
    EXPECT_EQ(view.slices_with_leader[2], 5);
    EXPECT_EQ(view.slices_with_leader[0], 11);
  });
}

using Spread = std::tuple<bool, std::vector<std::tuple<std::int32_t, Count, std::int32_t>>>;

Spread SpreadOn(const TeamRunner& runner, std::vector<Candidate> chosen,
                const PlacementQuery& query, Count threshold) {
  return runner.Ask([&](auto& team) {
    const bool placed = SpreadEvenly(team, query, threshold, ListOf(chosen));
    Spread spread{placed, {}};
    for (const Candidate& d : chosen) {
      if (placed) std::get<1>(spread).emplace_back(d.domain, d.slices, d.leaders);
    }
    return spread;
  });
}

TEST(BalancedTest, R14_16_FirstDomainsGetWhatIsLeft) {
  const std::vector<Candidate> chosen = {Led(2, 3, 3, 2, 2), Led(3, 2, 2, 1, 1),
                                         Led(4, 4, 4, 2, 2)};  // E14
  PlacementQuery query;
  query.pods = 8;
  query.leaders = 1;
  RunOnTeams([&](const TeamRunner& runner) {
    const auto [placed, domains] = SpreadOn(runner, chosen, query, 1);
    EXPECT_TRUE(placed);
    EXPECT_THAT(domains,
                ElementsAre(std::tuple(2, 2, 1), std::tuple(4, 4, 0), std::tuple(3, 2, 0)));
  });
}

TEST(BalancedTest, R14_16_ReasonB_NotEnoughSlicesForTheThreshold) {
  PlacementQuery query;
  query.pods = 5;
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_FALSE(std::get<0>(SpreadOn(runner, {Plain(0, 9, 9), Plain(1, 9, 9)}, query, 3)));
  });
}

TEST(BalancedTest, R14_17_ReasonC_SlicesOrLeadersAreLeft) {
  PlacementQuery query;
  query.pods = 5;
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_FALSE(std::get<0>(SpreadOn(runner, {Plain(0, 2, 2), Plain(1, 2, 2)}, query, 2)));
  });
}

}  // namespace
}  // namespace espalier::balanced_test
