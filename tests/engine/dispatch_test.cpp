#include "host/what_if/dispatch.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "tests/generated/clusters.hpp"

namespace espalier::dispatch_test {
namespace {

// Racks of 2 hosts with these cores each.
ClusterState ClusterOf(const std::vector<Amount>& cores) {
  ClusterStateInput input = OneFlavor(LevelKeys(2), "main");
  for (std::size_t i = 0; i < cores.size(); ++i) {
    input.nodes.push_back(
        HostNode(fmt::format("r{}/host-{}", i / 2, i), {{"cpu", cores[i] * 1000}, {"pods", 110}}));
  }
  return *ClusterState::Build(input);
}

ClusterState RackCluster(int racks, Amount cpu) {
  return ClusterOf(std::vector<Amount>(static_cast<std::size_t>(racks) * 2, cpu));
}

WorkloadRequest Gang(const std::string& name, std::int32_t count) {
  WorkloadRequest request;
  request.key = {"team", name};
  PodSetRequest& pod_set = request.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.flavor = "main";
  pod_set.count = count;
  pod_set.requests = {{"cpu", 1000}};
  pod_set.topology_request.emplace().preferred = std::string(kHostnameLabel);
  return request;
}

class DispatchTest : public testing::Test {
 protected:
  void Add(const std::string& name, const ClusterState* state) {
    clusters_.push_back({name, state, requests_, {}});
  }

  // The names of the clusters for a workload, best first.
  std::vector<std::string> Order(std::size_t workload) {
    fits_ = Dispatch(clusters_, requests_.size(), MakeCpuBackend(2), WorkBudget::Unlimited());
    std::vector<std::string> names;
    for (const ClusterFit& fit : fits_[workload]) names.push_back(clusters_[fit.cluster].name);
    return names;
  }

  std::vector<WorkloadRequest> requests_ = {Gang("a", 4)};
  std::vector<DispatchCluster> clusters_;
  std::vector<std::vector<ClusterFit>> fits_;
};

TEST_F(DispatchTest, OrdersByHowCloseHowFewAndHowMuchIsLeft) {  // W6.6
  const ClusterState anywhere = RackCluster(4, 1);
  const ClusterState rack = RackCluster(1, 2);
  const ClusterState host = RackCluster(1, 8);
  const ClusterState tight_host = RackCluster(1, 5);
  const ClusterState full = RackCluster(1, 1);
  Add("anywhere", &anywhere);
  Add("full", &full);
  Add("rack", &rack);
  Add("host", &host);
  Add("nobody-knows", nullptr);
  Add("tight-host", &tight_host);
  Add("another-tight-host", &tight_host);
  EXPECT_THAT(Order(0), testing::ElementsAre("another-tight-host", "tight-host", "host", "rack",
                                             "anywhere", "nobody-knows", "full"));
  const std::vector<ClusterFit>& fits = fits_[0];
  EXPECT_EQ(fits[0].pod_sets,
            (std::vector<PodSetFit>{{"main", std::string(kHostnameLabel), 0, 1, 1, "main"}}));
  EXPECT_EQ(fits[3].pod_sets, (std::vector<PodSetFit>{{"main", "rack", 1, 2, 0, "main"}}));
  EXPECT_EQ(fits[4].pod_sets, (std::vector<PodSetFit>{{"main", "", 2, 4, 0, "main"}}));
  EXPECT_EQ(fits[5].status, FitStatus::kUnknown);
  EXPECT_EQ(fits[5].reason, "nothing is known of its state");
  EXPECT_EQ(fits[6].status, FitStatus::kDoesNotFit);
  EXPECT_THAT(fits[6].reason, testing::StartsWith("pod set main: "));
}

TEST_F(DispatchTest, WorkloadsDoNotTakeRoomFromEachOther) {
  const ClusterState state = RackCluster(1, 2);
  requests_ = {Gang("a", 4), Gang("b", 4), Gang("c", 5)};
  Add("one", &state);
  Order(0);
  EXPECT_EQ(fits_[0][0].status, FitStatus::kFits);
  EXPECT_EQ(fits_[1][0], fits_[0][0]);
  EXPECT_EQ(fits_[2][0].status, FitStatus::kDoesNotFit);
}

TEST_F(DispatchTest, WhatIsLeftCountsAllPodSetsAndWhatRuns) {
  ClusterState state = RackCluster(1, 8);
  state.AddUsage({{"main", "host-0", {{"cpu", 7000}, {"pods", 1}}}});
  PodSetRequest more = requests_[0].pod_sets[0];
  more.name = "more";
  more.count = 1;
  more.requests = {{"cpu", 2000}};
  requests_[0].pod_sets.push_back(more);
  Add("one", &state);
  Order(0);
  EXPECT_EQ(fits_[0][0].pod_sets,
            (std::vector<PodSetFit>{{"main", std::string(kHostnameLabel), 0, 1, 2, "main"},
                                    {"more", std::string(kHostnameLabel), 0, 1, 1, "main"}}));
}

TEST_F(DispatchTest, TakesAsLongAsThereArePodSets) {
  const ClusterState state = RackCluster(1, 8);
  const PodSetRequest one = requests_[0].pod_sets[0];
  requests_[0].pod_sets.assign(20'000, one);
  for (std::size_t i = 0; i < requests_[0].pod_sets.size(); ++i) {
    requests_[0].pod_sets[i].name = std::to_string(i);
    requests_[0].pod_sets[i].count = 0;
  }
  Add("one", &state);
  Order(0);
  EXPECT_EQ(fits_[0][0].pod_sets.size(), 20'000U);
}

// Some are decided after others, which shows nowhere but in the memory.
TEST_F(DispatchTest, ManyPodSetsInManyClustersAreAnsweredAsInEachAlone) {
  const ClusterState large = RackCluster(4, 8);
  const ClusterState small = RackCluster(1, 1);
  requests_[0].pod_sets.assign(3000, requests_[0].pod_sets[0]);
  for (std::size_t i = 0; i < requests_[0].pod_sets.size(); ++i) {
    requests_[0].pod_sets[i].name = std::to_string(i);
    requests_[0].pod_sets[i].count = i < 40 ? 1 : 0;
  }
  requests_.push_back(Gang("b", 2));
  std::vector<std::vector<ClusterFit>> alone;
  for (int c = 0; c < 12; ++c) {
    clusters_.clear();
    Add("c" + std::to_string(10 + c), c % 3 == 0 ? &small : &large);
    Order(0);
    for (const std::vector<ClusterFit>& fits : fits_) alone.push_back(fits);
  }
  clusters_.clear();
  for (int c = 0; c < 12; ++c) {
    Add("c" + std::to_string(10 + c), c % 3 == 0 ? &small : &large);
  }
  Order(0);
  for (std::size_t w = 0; w < 2; ++w) {
    ASSERT_EQ(fits_[w].size(), 12U);
    for (ClusterFit fit : fits_[w]) {
      const ClusterFit& expected = alone[2 * fit.cluster + w][0];
      fit.cluster = 0;
      EXPECT_EQ(fit, expected);
    }
  }
}

// Without constraints the hosts with the least room are filled, or by TASProfileMixed=false one
// host is taken that holds all pods (R9.6).
TEST_F(DispatchTest, AsksEachClusterByItsOwnGates) {
  const ClusterState state = ClusterOf({2, 3, 4});
  requests_ = {Gang("a", 5)};
  TopologyRequest& asked = *requests_[0].pod_sets[0].topology_request;
  asked.preferred.reset();
  asked.unconstrained = true;
  for (const std::string name : {"a", "b-mixed", "c", "d-mixed"}) {
    Add(name, &state);
    clusters_.back().gates.profile_mixed = name.ends_with("mixed");
  }
  EXPECT_THAT(Order(0), testing::ElementsAre("b-mixed", "d-mixed", "a", "c"));
}

TEST_F(DispatchTest, ChargesEachPodSetInEachCluster) {
  const ClusterState state = RackCluster(1, 8);
  requests_[0].pod_sets.assign(1000, requests_[0].pod_sets[0]);
  for (std::size_t i = 0; i < requests_[0].pod_sets.size(); ++i) {
    requests_[0].pod_sets[i].name = std::to_string(i);
    requests_[0].pod_sets[i].count = 0;
  }
  for (int c = 0; c < 50; ++c) Add(std::to_string(c), &state);
  WorkBudget enough(std::int64_t{64} << 20);
  const auto fits = Dispatch(clusters_, 1, MakeCpuBackend(2), enough);
  ASSERT_TRUE(enough.Check());
  EXPECT_EQ(fits[0][49].pod_sets.size(), 1000U);
  EXPECT_GE(enough.charged(), static_cast<std::int64_t>(50 * 1000 * sizeof(PodSetFit)));
  WorkBudget less(std::int64_t{8} << 20);
  Dispatch(clusters_, 1, MakeCpuBackend(2), less);
  ASSERT_FALSE(less.Check());
  EXPECT_EQ(less.Check().error().error_class, ErrorClass::kExhausted);
}

TEST_F(DispatchTest, WhatIsKnownIsNotAsked) {
  const ClusterState state = RackCluster(1, 8);
  requests_ = {Gang("a", 4), Gang("b", 4)};
  Add("one", &state);
  clusters_[0].known = {{1, FitStatus::kUnknown, "no queue"}};
  Order(0);
  EXPECT_EQ(fits_[0][0].status, FitStatus::kFits);
  EXPECT_EQ(fits_[1][0], (ClusterFit{0, FitStatus::kUnknown, "no queue", {}}));
}

}  // namespace
}  // namespace espalier::dispatch_test
