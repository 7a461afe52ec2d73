#include "host/engine/assignments.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/packing/flavor_state.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::assignments_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

class AssignmentsTest : public ::testing::Test {
 protected:
  const FlavorSnapshot& snapshot() const { return state_.Find("tas")->snapshot(); }
  ClusterState state_ = BuildState(Gpus({{"r1/x1", 4}, {"r1/x3", 4}, {"r2/x0", 4}}));
};

TEST_F(AssignmentsTest, R4_1_IdIsTheJoinedPath) {
  EXPECT_EQ(DomainIdText({"b1", "r1"}), "b1,r1");
  EXPECT_EQ(DomainIdText({"x1"}), "x1");
  EXPECT_EQ(DomainIdText({}), "");
}

TEST_F(AssignmentsTest, R16_2_FirstStaleDomain) {
  const TopologyAssignment stale = OnHosts({{"x1", 1}, {"x9", 1}, {"x8", 1}});
  EXPECT_EQ(FirstStaleDomain(stale, snapshot()), &stale.domains[1]);
  EXPECT_EQ(FirstStaleDomain(OnHosts({{"x1", 1}, {"x0", 1}}), snapshot()), nullptr);
  EXPECT_EQ(FirstStaleDomain(OnHosts({}), snapshot()), nullptr);
}

TEST_F(AssignmentsTest, R13_8_PathOrderAndNoEmptyDomains) {
  const std::vector<LeafShare> shares = {{LeafId(0), 0, 2}, {LeafId(1), 1, 0}, {LeafId(2), 0, 3}};
  EXPECT_EQ(ToAssignment(shares, false, snapshot()), OnHosts({{"x1", 2}, {"x0", 3}}));
  EXPECT_EQ(ToAssignment(shares, true, snapshot()), OnHosts({{"x3", 1}}));
  EXPECT_THAT(ToAssignment({}, true, snapshot()).domains, IsEmpty());  // R13.9
  EXPECT_EQ(ToShares(OnHosts({{"x0", 3}, {"x1", 2}}), snapshot()),
            (std::vector<LeafShare>{{LeafId(2), 0, 3}, {LeafId(0), 0, 2}}));
}

TEST_F(AssignmentsTest, R13_8_WholePathsOutsideHostTopologies) {
  ClusterStateInput input = Gpus({{"b1/r1/n1", 4}});
  input.topologies[0].levels = {"block", "rack"};
  const ClusterState racks = BuildState(input);
  const TopologyAssignment assignment =
      ToAssignment(std::vector<LeafShare>{{LeafId(0), 0, 2}}, false, racks.Find("tas")->snapshot());
  EXPECT_EQ(assignment, (TopologyAssignment{{"block", "rack"}, {{{"b1", "r1"}, 2}}}));
}

TEST_F(AssignmentsTest, R16_7_MergeSortsAndAddsUp) {
  const std::vector<LeafShare> some = {{LeafId(2), 0, 1}, {LeafId(0), 1, 2}};
  const std::vector<LeafShare> others = {{LeafId(1), 0, 4}, {LeafId(2), 0, 5}};
  const std::vector<LeafShare> merged = MergeShares(some, others);
  EXPECT_EQ(merged,
            (std::vector<LeafShare>{{LeafId(0), 1, 2}, {LeafId(1), 0, 4}, {LeafId(2), 0, 6}}));
}

TEST_F(AssignmentsTest, R16_5_TruncateKeepsTheStoredOrder) {
  const TopologyAssignment stored = OnHosts({{"x3", 2}, {"x1", 3}, {"x0", 1}});  // E12 and more
  EXPECT_EQ(Truncate(stored, 4), OnHosts({{"x3", 2}, {"x1", 2}}));
  EXPECT_EQ(Truncate(stored, 2), OnHosts({{"x3", 2}}));
  EXPECT_EQ(Truncate(stored, 9), stored);
  EXPECT_EQ(Truncate(stored, 0), OnHosts({}));
  EXPECT_EQ(Truncate(stored, -1), OnHosts({}));
  EXPECT_EQ(TotalPods(stored), 6);
}

TEST_F(AssignmentsTest, R5_4_UsageOfPods) {
  EXPECT_EQ(UsageOfPods({{"gpu", 2}}, 3), (Resources{{"gpu", 6}, {"pods", 3}}));
  const Amount most = std::numeric_limits<Amount>::max();
  EXPECT_EQ(UsageOfPods({{"gpu", most}, {"pods", 1}}, 2), (Resources{{"gpu", most}, {"pods", 4}}));
}

Amount Assumed(const AssumedLeaves& bound, std::size_t i, const FlavorSnapshot& snapshot,
               std::string_view resource) {
  return bound[i].amounts.at(static_cast<std::size_t>(snapshot.FindResource(resource)));
}

TEST_F(AssignmentsTest, R5_8_AssumedUsageAddsUpPerLeaf) {
  AssumedUsage assumed({{"x0", {{"gpu", 1}, {"pods", 1}}}, {"elsewhere", {{"gpu", 1}}}});
  assumed.Add(OnHosts({{"x0", 2}, {"x1", 1}}), {{"gpu", 3}, {"rdma/x", 1}});
  const auto bound = assumed.Bind(snapshot());
  ASSERT_EQ(bound.size(), 2u);  // leaves ascend; unknown ones are left out
  EXPECT_EQ(bound[0].leaf, LeafId(0));
  EXPECT_EQ(Assumed(bound, 0, snapshot(), "gpu"), 3);
  EXPECT_EQ(bound[1].leaf, LeafId(2));
  EXPECT_EQ(Assumed(bound, 1, snapshot(), "gpu"), 7);
  EXPECT_EQ(Assumed(bound, 1, snapshot(), "pods"), 3);
}

TEST_F(AssignmentsTest, R5_8_OfADomainListedTwiceTheLastEntryCounts) {
  AssumedUsage assumed;
  assumed.Add(OnHosts({{"x1", 3}, {"x1", 2}}), {{"gpu", 1}});
  const auto bound = assumed.Bind(snapshot());
  ASSERT_EQ(bound.size(), 1u);
  EXPECT_EQ(Assumed(bound, 0, snapshot(), "gpu"), 2);
  EXPECT_EQ(Assumed(bound, 0, snapshot(), "pods"), 2);
}

TEST_F(AssignmentsTest, R5_8_WhatIsAddedLaterIsBoundLater) {
  AssumedUsage assumed;
  assumed.Add(OnHosts({{"x1", 3}}), {{"gpu", 1}});
  const AssumedLeaves first = assumed.Bind(snapshot());
  EXPECT_EQ(assumed.Bind(snapshot()).begin(), first.begin());  // no other list
  assumed.Add(OnHosts({{"x1", 1}, {"x0", 1}, {"elsewhere", 1}}), {{"gpu", 1}});
  assumed.Add(OnHosts({{"x0", 1}}), {{"gpu", 1}});
  const AssumedLeaves second = assumed.Bind(snapshot());
  ASSERT_EQ(first.size(), 1U);  // a copy keeps what it was
  EXPECT_EQ(Assumed(first, 0, snapshot(), "gpu"), 3);
  ASSERT_EQ(second.size(), 2U);
  EXPECT_EQ(second[0].leaf, LeafId(0));  // x1
  EXPECT_EQ(Assumed(second, 0, snapshot(), "gpu"), 4);
  EXPECT_EQ(second[1].leaf, LeafId(2));  // x0
  EXPECT_EQ(Assumed(second, 1, snapshot(), "gpu"), 2);
}

}  // namespace
}  // namespace espalier::assignments_test
