#include "kernels/decisions/lists.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::lists_test {
namespace {

using ::testing::ElementsAre;

TEST(ListsTest, ListDomainsFillsARunInPathOrder) {
  for (const std::int32_t n : kAwkwardSizes) {
    const HandTree tree({{1}, {n + 2}});
    std::vector<HandLeaf> leaves;
    for (std::int32_t i = 0; i < n + 2; ++i) leaves.emplace_back(Count{10} * i);
    HandCounts counts(tree.view(), Slices(tree.view()), leaves);
    RunOnTeams([&](const TeamRunner& runner) {
      std::vector<Candidate> memory(static_cast<std::size_t>(n));
      const bool filled = runner.Ask([&](auto& team) {
        const CandidateList list = ListDomains(team, counts.view(), {2, 2 + n}, memory.data());
        bool right = list.size == n;
        for (std::int32_t i = 0; i < list.size; ++i) {
          right = right && list[i].domain == 2 + i && list[i].pods == 10 * (i + 1);
        }
        return right;
      });
      EXPECT_TRUE(filled);
    });
  }
}

TEST(ListsTest, FromDropsTheFront) {
  std::vector<Candidate> items = {Plain(5, 1, 1), Plain(6, 1, 1), Plain(7, 1, 1)};
  EXPECT_THAT(Domains(ListOf(items).From(1)), ElementsAre(6, 7));
  EXPECT_EQ(ListOf(items).From(3).size, 0);
}

TEST(ListsTest, AppendGrowsTheListOnEveryLane) {
  RunOnTeams([](const TeamRunner& runner) {
    std::vector<Share> memory(2);
    const std::vector<HandShare> shares = runner.Ask([&](auto& team) {
      ShareList list{memory.data(), 0};
      Append(team, list, {4, 1, 3});
      Append(team, list, {2, 0, 5});
      team.sync();
      return Shares(list);
    });
    EXPECT_THAT(shares, ElementsAre(HandShare{4, 1, 3}, HandShare{2, 0, 5}));
  });
}

}  // namespace
}  // namespace espalier::lists_test
