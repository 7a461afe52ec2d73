#include "kernels/decisions/balanced_select.hpp"

#include <algorithm>
#include <iterator>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/queries.hpp"

namespace espalier::balanced_select_test {
namespace {

using ::testing::DoubleNear;
using ::testing::ElementsAre;

PlacementQuery Pods(Count pods, Count leaders = 0, Count slice_size = 1) {
  PlacementQuery query;
  query.pods = pods;
  query.leaders = leaders;
  query.slice.size = slice_size;
  return query;
}

// fits, n, slices with a leader of lastL, slices of the last one without
using Walk = std::tuple<bool, Count, Count, Count>;
constexpr Count kNone = Greedy::kNoDomain;

Walk WalkOn(const TeamRunner& runner, const std::vector<Candidate>& items,
            const PlacementQuery& query) {
  std::vector<Candidate> list = items;
  return runner.Ask([&](auto& team) {
    const Greedy greedy = FewestDomains(team, ListOf(list), query);
    return Walk{greedy.fits, greedy.domains, greedy.last_leader, greedy.last};
  });
}

TEST(BalancedSelectTest, R14_5_GreedyTakesTheLargestFirst) {
  const std::vector<Candidate> hosts = {Plain(0, 9, 9), Plain(1, 7, 7), Plain(2, 1, 1),
                                        Plain(3, 8, 8), Plain(4, 8, 8), Plain(5, 1, 1)};  // E13
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(WalkOn(runner, hosts, Pods(14)), Walk(true, 2, kNone, 8));
    EXPECT_EQ(WalkOn(runner, hosts, Pods(34)), Walk(true, 6, kNone, 1));
    EXPECT_FALSE(std::get<0>(WalkOn(runner, hosts, Pods(35))));
  });
}

TEST(BalancedSelectTest, R14_5_LeaderWalksFirst) {
  const std::vector<Candidate> racks = {Led(0, 3, 3, 2, 2), Led(1, 2, 2, 1, 1),
                                        Led(2, 4, 4, 2, 2)};  // E14
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(WalkOn(runner, racks, Pods(8, 1)), Walk(true, 3, 2, 2));
    EXPECT_EQ(WalkOn(runner, {Plain(0, 5, 5)}, Pods(3, 1)), Walk(false, 1, kNone, 5));
  });
}

TEST(BalancedSelectTest, R14_5_FullDomainAtTheFrontEndsTheWalk) {
  const std::vector<Candidate> hosts = {Plain(0, 0, 0, 10), Plain(1, 5, 5)};
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(WalkOn(runner, hosts, Pods(3)), Walk(false, 0, kNone, kNone));
  });
}

// The domains are a run, with and without affinity, which tells them apart beside their slices.
TEST(BalancedSelectTest, R14_5_WorkersAloneNeedNoOrder) {
  Random random(51);
  for (int round = 0; round < 100; ++round) {
    const std::uint32_t ends[] = {2, 9, 200, 1026, 1u << 30};
    const std::uint32_t end = ends[random.Below(5)];
    const std::int32_t size = kAwkwardSizes[random.Below(std::size(kAwkwardSizes))];
    std::vector<StoredCount> slices = {7, 7};
    std::vector<std::int64_t> affinity = {1, 1};
    Count all = 0;
    for (std::int32_t i = 0; i < size; ++i) {
      slices.push_back(static_cast<StoredCount>(random.Below(end)));
      affinity.push_back(static_cast<std::int64_t>(random.Below(3)));
      all += slices.back();
    }
    CountsView counts;
    counts.pods = counts.slices = slices.data();
    counts.pods_with_leader = counts.slices_with_leader = slices.data();
    if (round % 5 == 0) counts.affinity = affinity.data();
    const DomainRange range{2, 2 + size};
    std::vector<Candidate> list;
    for (std::int32_t d = range.begin; d < range.end; ++d) {
      list.push_back(MakeCandidate(counts, d));
    }
    for (const Count pods : {Count{0}, Count(all / (1 + random.Below(9))), all, all + 1}) {
      const PlacementQuery query = Pods(pods);
      SCOPED_TRACE(testing::Message() << "round " << round << ", " << pods << " of " << all);
      const Walk right = WalkOn(TeamRunner(1), list, query);
      RunOnTeams([&](const TeamRunner& runner) {
        std::vector<Candidate> memory(list.size() + 1);
        const Walk now = runner.Ask([&](auto& team) {
          const Greedy greedy = FewestDomains(team, counts, range, query, memory.data());
          if (greedy.fits && greedy.domains > 0) {
            EXPECT_EQ(greedy.last_beside, greedy.last);
          }
          return Walk{greedy.fits, greedy.domains, greedy.last_leader, greedy.last};
        });
        EXPECT_EQ(std::get<0>(now), std::get<0>(right));
        if (std::get<0>(right)) {
          EXPECT_EQ(now, right);
        }
      });
    }
  }
}

TEST(BalancedSelectTest, R14_15_EntropyOfTheChildren) {
  const HandTree tree({{3}, {3, 2, 2}});
  HandCounts counts(tree.view(), Slices(tree.view()), {9, 7, 0, 8, 8, 0, 0});
  RunOnTeams([&](const TeamRunner& runner) {
    HandWorkspace workspace(tree.view());
    const Workspace w = workspace.view();
    runner.Run([&](auto& team) {
      ChildEntropies(team, tree.view(), counts.view(), {0, 3}, 0, w.entropy, w.terms);
    });
    EXPECT_THAT(std::vector<double>(w.entropy, w.entropy + 3),
                ElementsAre(DoubleNear(0.98870, 1e-5), 1.0, 0.0));
  });
}

TEST(BalancedSelectTest, R14_15_EqualMultisetsAreEqualToTheBit) {
  const HandTree tree({{2}, {4, 4}});
  HandCounts counts(tree.view(), Slices(tree.view()), {3, 7, 11, 13, 13, 3, 11, 7});
  RunOnTeams([&](const TeamRunner& runner) {
    HandWorkspace workspace(tree.view());
    const Workspace w = workspace.view();
    runner.Run([&](auto& team) {
      ChildEntropies(team, tree.view(), counts.view(), {0, 2}, 0, w.entropy, w.terms);
    });
    EXPECT_EQ(w.entropy[0], w.entropy[1]);  // not merely near
  });
}

TEST(BalancedSelectTest, R14_14_EntropyOrder) {
  const double entropy[] = {0.5, 1.0, 1.0, 9.0, 0.0};
  std::vector<Candidate> items = {Plain(10, 4, 4), Plain(11, 4, 4), Plain(12, 4, 4),
                                  Plain(13, 3, 3), Led(14, 1, 1, 1, 1)};
  std::ranges::sort(items, EntropyOrder{entropy, 10});
  EXPECT_THAT(Domains(ListOf(items)), ElementsAre(14, 11, 12, 10, 13));
}

struct Selected {
  BalancedStatus status = BalancedStatus::kNotApplicable;
  std::vector<std::int32_t> domains;
  bool operator==(const Selected&) const = default;
};

Selected SelectOn(const TeamRunner& runner, std::vector<Candidate> items, std::int32_t domains,
                  const PlacementQuery& query, std::int32_t states = 10'000) {
  const HandTree tree = FlatTree(static_cast<std::int32_t>(items.size()));
  HandWorkspace workspace(tree.view(), states);
  return runner.Ask([&](auto& team) {
    const Workspace w = workspace.view();
    Selected selected;
    selected.status = SelectDomains(team, ListOf(items), domains, query, w, w.chosen);
    if (selected.status == BalancedStatus::kChosen) {
      selected.domains = Domains({w.chosen, domains});
    }
    return selected;
  });
}

TEST(BalancedSelectTest, R14_12_LeastWasteWins) {
  const std::vector<Candidate> items = {Plain(0, 5, 5), Plain(1, 4, 4), Plain(2, 3, 3)};
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(7)), (Selected{BalancedStatus::kChosen, {1, 2}}));
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(8)), (Selected{BalancedStatus::kChosen, {0, 2}}));
    EXPECT_EQ(SelectOn(runner, items, 1, Pods(5)), (Selected{BalancedStatus::kChosen, {0}}));
    EXPECT_EQ(SelectOn(runner, items, 1, Pods(6)).status, BalancedStatus::kNotApplicable);
  });
}

TEST(BalancedSelectTest, R14_12_FirstWriterWins) {
  const std::vector<Candidate> items = {Plain(3, 4, 4), Plain(1, 4, 4), Plain(2, 4, 4)};
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(8)), (Selected{BalancedStatus::kChosen, {3, 1}}));
  });
}

TEST(BalancedSelectTest, R14_12_OneDomainCarriesTheLeader) {
  const std::vector<Candidate> items = {Plain(0, 6, 6), Led(1, 5, 5, 3, 3), Led(2, 4, 4, 4, 4)};
  RunOnTeams([&](const TeamRunner& runner) {
    // 6 + 4 beside the leader on 2, against 6 + 3 beside it on 1.
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(9, 1)), (Selected{BalancedStatus::kChosen, {0, 1}}));
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(10, 1)), (Selected{BalancedStatus::kChosen, {0, 2}}));
    EXPECT_EQ(SelectOn(runner, {Plain(0, 6, 6)}, 1, Pods(3, 1)).status,
              BalancedStatus::kNotApplicable);
  });
}

TEST(BalancedSelectTest, R14_13_CountsPodsNotSlices) {
  // Two slices of 4: 7 pods and 3 pods are 10 >= 8, though only one whole slice is among them.
  const std::vector<Candidate> items = {Plain(0, 1, 7), Plain(1, 1, 3)};
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(8, 0, 4)).status, BalancedStatus::kChosen);
  });
}

TEST(BalancedSelectTest, R14_12_SaysWhenItNeedsMoreStates) {
  const std::vector<Candidate> items = {Plain(0, 5, 5), Plain(1, 4, 4), Plain(2, 3, 3)};
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(7), 3).status, BalancedStatus::kOutOfStates);
    EXPECT_EQ(SelectOn(runner, items, 2, Pods(7), 0).status, BalancedStatus::kOutOfStates);
  });
}

}  // namespace
}  // namespace espalier::balanced_select_test
