#include "kernels/decisions/leaf_counts.hpp"

#include <limits>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kernels/teams.hpp"
#include "tests/kernels/trees.hpp"

namespace espalier::leaf_counts_test {
namespace {

using ::testing::ElementsAreArray;

constexpr Amount kMin = std::numeric_limits<Amount>::min();
constexpr Amount kMax = std::numeric_limits<Amount>::max();

// One row per leaf and one column per resource, both in the order of the test.
class HandLeaves {
 public:
  HandLeaves(const std::vector<std::vector<Amount>>& leaves, const std::vector<Amount>& workers)
      : workers_(workers) {
    const std::size_t columns = leaves.empty() ? workers.size() : leaves.front().size();
    const std::size_t stride = leaves.size() + 3;  // padded
    amounts_.assign(columns * stride, -77);
    for (std::size_t leaf = 0; leaf < leaves.size(); ++leaf) {
      for (std::size_t c = 0; c < columns; ++c) amounts_[c * stride + leaf] = leaves[leaf][c];
    }
    for (std::size_t c = 0; c < workers.size(); ++c) {
      columns_.push_back(c < columns ? static_cast<std::int32_t>(c) : -1);
    }
    input.capacity = {amounts_.data(), static_cast<std::int64_t>(stride)};
    input.workers = {static_cast<std::int32_t>(workers_.size()), columns_.data(), workers_.data()};
    input.domain = {0, static_cast<std::int32_t>(leaves.size())};
  }
  HandLeaves(const HandLeaves&) = delete;
  HandLeaves& operator=(const HandLeaves&) = delete;

  // The leader requests the same resources as the workers.
  void SetLeader(const std::vector<Amount>& leader) {
    leader_ = leader;
    input.leader = {static_cast<std::int32_t>(leader_.size()), columns_.data(), leader_.data()};
    input.leader_on_workers = leader_.data();
  }
  void Assume(const std::vector<std::int32_t>& leaves, const std::vector<Amount>& amounts) {
    assumed_leaves_ = leaves;
    assumed_ = amounts;
    input.assumed = {
        static_cast<std::int32_t>(leaves.size()), assumed_leaves_.data(), assumed_.data(),
        static_cast<std::int32_t>(leaves.empty() ? 0 : amounts.size() / leaves.size())};
  }
  void Match(std::vector<std::uint64_t> bitmap) {
    bitmap_ = std::move(bitmap);
    input.matches = bitmap_.data();
  }

  LeafInput input;

 private:
  std::vector<Amount> amounts_;
  std::vector<Amount> workers_;
  std::vector<Amount> leader_;
  std::vector<std::int32_t> columns_;
  std::vector<std::int32_t> assumed_leaves_;
  std::vector<Amount> assumed_;
  std::vector<std::uint64_t> bitmap_;
};

// One leaf of a flat tree as CountLeaves leaves it, and what ExclusionOf says of it.
struct Leaf {
  Count pods, slices, pods_with_leader, slices_with_leader;
  std::int32_t leaders, exclusion;
  bool operator==(const Leaf&) const = default;
};

std::vector<Leaf> CountOn(const TeamRunner& runner, const LeafInput& input, std::int32_t leaves,
                          const std::vector<Layer>& layers = {}) {
  const HandTree tree({{1}, {leaves}});
  HandCounts counts(tree.view(), input.leader.size > 0);
  const CountsView view = counts.view();
  runner.Run([&](auto& team) {
    CountLeaves(team, tree.view(), Slices(tree.view(), layers), input, view);
  });
  std::vector<Leaf> seen;
  for (std::int32_t leaf = 0; leaf < leaves; ++leaf) {
    const std::int32_t d = 1 + leaf;
    seen.push_back({view.pods[d], view.slices[d], view.pods_with_leader[d],
                    view.slices_with_leader[d], static_cast<std::int32_t>(view.Leaders(d)),
                    ExclusionOf(input, leaf)});
  }
  return seen;
}

void ExpectLeaves(const LeafInput& input, const std::vector<Leaf>& expected,
                  const std::vector<Layer>& layers = {}) {
  RunOnTeams([&](const TeamRunner& runner) {
    EXPECT_THAT(CountOn(runner, input, static_cast<std::int32_t>(expected.size()), layers),
                ElementsAreArray(expected));
  });
}

TEST(LeafCountsTest, R7_11_PodsAndLimitingResource) {
  // E4: cpu, memory, pods of n4, n5 and n6.
  const HandLeaves leaves({{2500, 64, 10}, {500, 64, 0}, {8000, 7, 0}}, {1000, 8, 1});
  ExpectLeaves(leaves.input,
               {{2, 2, 2, 2, 0, kNotExcluded}, {0, 0, 0, 0, 0, 0}, {0, 0, 0, 0, 0, 1}});
}

TEST(LeafCountsTest, R7_11_LeaderTakesItsShareFirst) {
  // E9: gpus, leader 3, workers 2.
  HandLeaves leaves({{8}, {7}, {4}, {2}}, {2});
  leaves.SetLeader({3});
  ExpectLeaves(leaves.input, {{4, 4, 2, 2, 1, kNotExcluded},
                              {3, 3, 2, 2, 1, kNotExcluded},
                              {2, 2, 0, 0, 1, kNotExcluded},
                              // Too small for the leader: PW stays P.
                              {1, 1, 1, 1, 0, kNotExcluded}});
}

TEST(LeafCountsTest, R7_11_LeaderMayUseAResourceOfItsOwn) {
  HandLeaves leaves({{8, 1}, {8, 0}}, {2});
  leaves.SetLeader({2, 1});
  const std::int32_t columns[] = {0, 1};
  const Amount on_workers[] = {2};
  leaves.input.leader.column = columns;
  leaves.input.leader_on_workers = on_workers;
  ExpectLeaves(leaves.input, {{4, 4, 3, 3, 1, kNotExcluded}, {4, 4, 4, 4, 0, kNotExcluded}});
}

TEST(LeafCountsTest, R5_8_AssumedUsageIsSubtractedOnItsLeavesOnly) {
  // E17, node n1: cpu, memory, pods; what pod set A took is assumed.
  HandLeaves leaves({{2300, 3896, 3}, {2300, 3896, 3}, {-600, 4096, 4}}, {100, 1, 1});
  leaves.Assume({0}, {1000, 200, 2});
  ExpectLeaves(leaves.input,
               {{1, 1, 1, 1, 0, kNotExcluded}, {3, 3, 3, 3, 0, kNotExcluded}, {0, 0, 0, 0, 0, 0}});
}

TEST(LeafCountsTest, R1_7_AssumedUsageSaturates) {
  HandLeaves leaves({{kMin + 1}, {kMax}}, {1});
  leaves.Assume({0, 1}, {kMax, kMin});
  ExpectLeaves(leaves.input, {{0, 0, 0, 0, 0, 0}, {kMaxFit, kMaxFit, kMaxFit, kMaxFit, 0, -1}});
}

TEST(LeafCountsTest, R1_7_DifferenceStaysAtTheLimits) {
  EXPECT_EQ(SaturatingDifference(kMin, 1), kMin);
  EXPECT_EQ(SaturatingDifference(kMax, -1), kMax);
  EXPECT_EQ(SaturatingDifference(0, kMin), kMax);
  EXPECT_EQ(SaturatingDifference(-1, kMin), kMax);
  EXPECT_EQ(SaturatingDifference(kMin, kMin), 0);
  EXPECT_EQ(SaturatingDifference(kMax, kMax), 0);
  EXPECT_EQ(SaturatingDifference(-5, 7), -12);
}

TEST(LeafCountsTest, R4_6_ResourceNobodyHasReadsZero) {
  const HandLeaves leaves({{4}}, {1, 1});  // the second request has no column
  ExpectLeaves(leaves.input, {{0, 0, 0, 0, 0, 1}});
}

TEST(LeafCountsTest, R5_9_EmptyRequestFitsNothing) {
  const HandLeaves leaves({{4}}, {});
  ExpectLeaves(leaves.input, {{0, 0, 0, 0, 0, -1}});
}

TEST(LeafCountsTest, R7_12_LeavesThatDoNotMatchStayEmptyAndUncounted) {
  HandLeaves leaves({{0}, {3}, {0}, {3}}, {1});
  leaves.Match({0b1100});
  ExpectLeaves(leaves.input, {{0, 0, 0, 0, 0, kNotExcluded},
                              {0, 0, 0, 0, 0, kNotExcluded},
                              {0, 0, 0, 0, 0, 0},
                              {3, 3, 3, 3, 0, kNotExcluded}});
}

TEST(LeafCountsTest, R7_10_LeavesOutsideTheReplacementDomain) {
  HandLeaves leaves({{0}, {3}, {3}, {3}}, {1});
  leaves.Match({0b0111});
  leaves.input.domain = {1, 2};
  ExpectLeaves(leaves.input, {{0, 0, 0, 0, 0, kOutsideDomain},
                              {3, 3, 3, 3, 0, kNotExcluded},
                              {0, 0, 0, 0, 0, kOutsideDomain},
                              {0, 0, 0, 0, 0, kNotExcluded}});  // the filter comes first
}

TEST(LeafCountsTest, R8_1_SlicesOnlyWhenTheLeavesAreTheSliceLevel) {
  HandLeaves leaves({{7}}, {1});
  leaves.SetLeader({2});
  ExpectLeaves(leaves.input, {{7, 3, 5, 2, 1, kNotExcluded}}, {{1, 2}});
  ExpectLeaves(leaves.input, {{7, 0, 5, 0, 1, kNotExcluded}}, {{0, 2}});
}

TEST(LeafCountsTest, AwkwardSizesCrossBitmapWords) {
  for (const std::int32_t n : {0, 1, 7, 63, 64, 65, 130}) {
    std::vector<std::vector<Amount>> rows;
    std::vector<Leaf> expected;
    std::vector<std::uint64_t> bitmap(3, 0);
    for (std::int32_t leaf = 0; leaf < n; ++leaf) {
      rows.push_back({leaf});
      const bool matches = leaf % 3 != 1;
      if (matches) bitmap[static_cast<std::size_t>(leaf / 64)] |= std::uint64_t{1} << (leaf % 64);
      const Count pods = matches ? leaf / 2 : 0;
      expected.push_back({pods, pods, pods, pods, 0, matches && pods == 0 ? 0 : -1});
    }
    HandLeaves leaves(rows, {2});
    leaves.Match(bitmap);
    ExpectLeaves(leaves.input, expected);
  }
}

TEST(LeafCountsTest, R5_8_AssumedLeavesAreFoundBySearch) {
  const std::int32_t ids[] = {2, 3, 9};
  const Amount amounts[] = {20, 21, 30, 31, 90, 91};
  const AssumedView assumed{3, ids, amounts, 2};
  EXPECT_EQ(assumed.Find(2), amounts);
  EXPECT_EQ(assumed.Find(3), amounts + 2);
  EXPECT_EQ(assumed.Find(9), amounts + 4);
  for (const std::int32_t missing : {0, 4, 8, 10}) EXPECT_EQ(assumed.Find(missing), nullptr);
  EXPECT_EQ(AssumedView{}.Find(0), nullptr);
}

}  // namespace
}  // namespace espalier::leaf_counts_test
