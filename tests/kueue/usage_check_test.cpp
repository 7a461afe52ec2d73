#include "host/kueue/validation/usage_check.hpp"

#include <gtest/gtest.h>

#include "host/kueue/objects/cluster_input.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::usage_check_test {
namespace {

class UsageCheckTest : public ::testing::Test {
 protected:
  UsageCheckTest() {
    PodSetRequest asked;
    asked.name = "main";
    asked.flavor = "gpu";
    asked.requests = {{"gpu", 1}};
    request_.pod_sets = {asked};
  }
  bool Fit(const TopologyAssignment& assignment) {
    const auto state = ClusterState::Build(BuildClusterStateInput(cluster_, FeatureGates{}));
    return FitsNow(*state, request_, {{{"main", "gpu", assignment, std::nullopt}}});
  }

  Cluster cluster_ = MakeCluster();
  WorkloadRequest request_;
};

TEST_F(UsageCheckTest, EachLeafMustExistAndHoldItsPods) {  // R21.3
  EXPECT_TRUE(Fit(OnHosts({{"a1", 4}, {"b1", 1}})));
  EXPECT_FALSE(Fit(OnHosts({{"a1", 5}})));
  EXPECT_FALSE(Fit(OnHosts({{"gone", 1}})));
  request_.pod_sets[0].flavor = "cpu";
  EXPECT_FALSE(Fit(OnHosts({{"a1", 1}})));
}

TEST_F(UsageCheckTest, PodSlotsAreNotLookedAt) {  // R21.3
  request_.pod_sets[0].requests = {{"cpu", 1}};
  EXPECT_TRUE(Fit(OnHosts({{"a1", 11}})));  // 10 slots
}

TEST_F(UsageCheckTest, EntriesOnOneLeafAreNotAddedUp) {  // R21.3
  EXPECT_TRUE(Fit(OnHosts({{"a1", 3}, {"a1", 3}})));
}

TEST_F(UsageCheckTest, PodsWithoutRequestsNeverFit) {  // R21.3
  request_.pod_sets[0].requests = {};
  EXPECT_FALSE(Fit(OnHosts({{"a1", 1}})));
}

TEST_F(UsageCheckTest, OnlyPodsThatAreAddedAreLookedAt) {  // R21.8
  request_.pod_sets[0].previous_assignment = OnHosts({{"a1", 5}});
  EXPECT_TRUE(Fit(OnHosts({{"a1", 9}})));
  EXPECT_FALSE(Fit(OnHosts({{"a1", 10}})));
}

}  // namespace
}  // namespace espalier::usage_check_test
