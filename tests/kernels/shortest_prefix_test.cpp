#include "kernels/decisions/shortest_prefix.hpp"

#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier {
namespace {

// SerialTeam has a text of its own here, so every expectation also holds the two together.
// The domains are compared where the level suffices.
void ExpectPrefix(const std::vector<HandLeaf>& leaves, const std::vector<std::int64_t>& affinity,
                  bool least_free, Count need, const std::vector<std::int32_t>& domains,
                  Count slices) {
  const HandTree tree = FlatTree(static_cast<std::int32_t>(leaves.size()));
  const TreeView view = tree.view();
  HandCounts counts(view, Slices(view), leaves, affinity);
  RunOnTeams([&](const TeamRunner& runner) {
    std::vector<Candidate> memory(leaves.size() + 1);
    Count held = 0;
    const std::vector<std::int32_t> prefix = runner.Ask([&](auto& team) {
      const Prefix p = ShortestPrefix(team, counts.view(), {0, view.leaf_count()},
                                      PlainOrder{least_free}, need, memory.data());
      if (team.rank() == 0) held = p.slices;
      return Domains(p.list);
    });
    if (slices >= need) {
      EXPECT_EQ(prefix, domains);
    }
    EXPECT_EQ(held, slices);
  });
}

TEST(ShortestPrefixTest, R10_9_LargestFirstUntilItSuffices) {
  ExpectPrefix({5, 9, 7, 1}, {}, false, 16, {1, 2}, 16);
  ExpectPrefix({5, 9, 7, 1}, {}, false, 17, {1, 2, 0}, 21);
  ExpectPrefix({5, 9, 7, 1}, {}, false, 1, {1}, 9);
}

TEST(ShortestPrefixTest, R10_10_SmallestFirstUnderLeastFree) {
  ExpectPrefix({5, 9, 7, 1}, {}, true, 6, {3, 0}, 6);
  ExpectPrefix({5, 9, 7, 1}, {}, true, 7, {3, 0, 2}, 13);
}

TEST(ShortestPrefixTest, R9_1_PathOrderBreaksTies) {
  ExpectPrefix({4, 4, 4, 4}, {}, false, 7, {0, 1}, 8);
  ExpectPrefix({4, 4, 4, 4}, {}, true, 9, {0, 1, 2}, 12);
}

TEST(ShortestPrefixTest, R10_9_SlicesOfTheWholeLevelWhenItDoesNotSuffice) {
  ExpectPrefix({2, 0, 3}, {}, false, 6, {}, 5);
  ExpectPrefix({2, 0, 3}, {}, true, 6, {}, 5);
  ExpectPrefix({0, 0}, {}, false, 6, {}, 0);
}

TEST(ShortestPrefixTest, R9_3_AffinityFirstAndEmptyDomainsNowhere) {
  const std::vector<std::int64_t> affinity = {0, 10, 10, 5, 5, 0};
  ExpectPrefix({9, 0, 2, 0, 3, 4}, affinity, false, 6, {2, 4, 0}, 14);
  ExpectPrefix({9, 0, 2, 0, 3, 4}, affinity, true, 6, {2, 4, 5}, 9);
}

TEST(ShortestPrefixTest, AwkwardSizes) {
  for (const std::int32_t n : kAwkwardSizes) {
    std::vector<HandLeaf> leaves;
    std::vector<std::int32_t> all;
    for (std::int32_t i = 0; i < n; ++i) {
      leaves.emplace_back(Count{i % 3});
      if (i % 3 == 2) all.push_back(i);
    }
    const auto twos = static_cast<Count>(all.size());
    for (std::int32_t i = 1; i < n; i += 3) all.push_back(i);
    const Count held = twos + static_cast<Count>(all.size());
    ExpectPrefix(leaves, {}, false, held, all, held);
    ExpectPrefix(leaves, {}, false, held + 1, {}, held);
  }
}

}  // namespace
}  // namespace espalier
