#include "kernels/decisions/shortest_prefix.hpp"

#include <algorithm>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/generated/random.hpp"
#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::shortest_prefix_test {
namespace {

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
  ExpectPrefix({kMaxStored, 5, kMaxStored}, {}, false, Count{kMaxStored} + 1, {0, 2},
               2 * Count{kMaxStored});
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

// A level of domains, with others before it.
struct Level {
  static constexpr std::int32_t kBefore = 3;

  std::vector<StoredCount> pods = {9, 9, 9};
  std::vector<StoredCount> slices = {9, 9, 9};
  std::vector<std::int64_t> affinity = {9, 9, 9};
  bool plain = false;  // a slice is a pod
  bool affinity_matters = false;

  CountsView counts() {
    CountsView view;
    view.pods = view.pods_with_leader = pods.data();
    view.slices = view.slices_with_leader = plain ? pods.data() : slices.data();
    view.affinity = affinity_matters ? affinity.data() : nullptr;
    return view;
  }
  DomainRange range() const { return {kBefore, static_cast<std::int32_t>(pods.size())}; }
};

Level RandomLevel(Random& random, std::int32_t size) {
  const std::uint32_t pods_ends[] = {1, 3, 9, 120, 1500, 1u << 30};
  const std::uint32_t pods_end = pods_ends[random.Below(6)];
  const auto slice = static_cast<StoredCount>(1 + random.Below(4));
  Level level;
  level.plain = random.Below(2) == 0;
  level.affinity_matters = random.Below(4) == 0;
  for (std::int32_t i = 0; i < size; ++i) {
    level.pods.push_back(static_cast<StoredCount>(random.Below(pods_end)));
    level.slices.push_back(level.pods.back() / slice);
    level.affinity.push_back(static_cast<std::int64_t>(random.Below(3)) * 5);
  }
  return level;
}

TEST(ShortestPrefixTest, R10_9_IsWhatSortingAndCuttingGives) {
  Random random(41);
  for (int round = 0; round < 120; ++round) {
    const bool wide = round % 10 == 0;
    Level level = RandomLevel(random, static_cast<std::int32_t>(random.Below(wide ? 1500 : 40)));
    const CountsView counts = level.counts();
    const DomainRange range = level.range();
    const PlainOrder order{random.Below(2) == 0};
    std::vector<Candidate> sorted;
    Count all = 0;
    for (std::int32_t d = range.begin; d < range.end; ++d) {
      if (counts.slices[d] == 0) continue;
      sorted.push_back(MakeCandidate(counts, d));
      all += counts.slices[d];
    }
    std::ranges::sort(sorted, order);
    const Count some = all / (1 + random.Below(30)) + random.Below(3);
    for (const Count need : {Count{0}, some, all, all + 1}) {
      SCOPED_TRACE(testing::Message() << "round " << round << ", need " << need << " of " << all);
      std::vector<std::int32_t> expected;
      Count slices = 0;
      for (std::size_t i = 0; i < sorted.size() && slices < need; ++i) {
        expected.push_back(sorted[i].domain);
        slices += sorted[i].slices;
      }
      RunOnTeams([&](const TeamRunner& runner) {
        std::vector<Candidate> memory(level.pods.size());
        const std::vector<std::int32_t> prefix = runner.Ask([&](auto& team) {
          const Prefix p = ShortestPrefix(team, counts, range, order, need, memory.data());
          EXPECT_EQ(p.slices, slices);
          return Domains(p.list);
        });
        if (need <= all) {
          EXPECT_EQ(prefix, expected);
        }
      });
    }
  }
}

}  // namespace
}  // namespace espalier::shortest_prefix_test
