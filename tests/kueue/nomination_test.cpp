#include "host/kueue/cycle/nomination.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/partial_counts.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::nomination_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(PartialCounts, SpreadsTheReductionOverPodSets) {  // R21.11
  Workload workload = MakeWorkload(
      "w", "gpu", {MakePodSet("a", 10, {}), MakePodSet("b", 7, {}), MakePodSet("c", 5, {})});
  workload.pod_sets[0].min_count = 4;
  workload.pod_sets[1].min_count = 4;
  const PartialCounts counts(workload);
  EXPECT_EQ(counts.Range(), 9);
  EXPECT_THAT(counts.At(0), ElementsAre(10, 7, 5));
  EXPECT_THAT(counts.At(1), ElementsAre(10, 7, 5));  // floor(6/9), floor(3/9)
  EXPECT_THAT(counts.At(2), ElementsAre(9, 7, 5));
  EXPECT_THAT(counts.At(9), ElementsAre(4, 4, 5));
}

TEST(PartialCounts, LargestCountsReduceToTheirMinimum) {
  constexpr std::int32_t kMost = std::numeric_limits<std::int32_t>::max();
  Workload workload;
  workload.pod_sets.resize(4);
  for (PodSet& pod_set : workload.pod_sets) {
    pod_set.count = kMost;
    pod_set.min_count = 1;
  }
  const PartialCounts counts(workload);
  EXPECT_THAT(counts.At(counts.Range()), ::testing::Each(1));
  EXPECT_THAT(counts.At(0), ::testing::Each(kMost));
}

TEST(PartialCounts, NothingToReduceWithoutMinCount) {
  const Workload workload = MakeWorkload("w", "gpu", {MakePodSet("a", 10, {})});
  EXPECT_EQ(PartialCounts(workload).Range(), 0);
}

TEST(PartialCounts, ReclaimablePodsDoNotLowerThem) {  // R21.11
  Workload workload = MakeWorkload("w", "gpu", {MakePodSet("a", 10, {})});
  workload.pod_sets[0].min_count = 4;
  workload.reclaimable_pods = {{"a", 3}};
  const PartialCounts counts(workload);
  EXPECT_THAT(counts.At(0), ElementsAre(10));
  EXPECT_THAT(counts.At(counts.Range()), ElementsAre(4));
}

class NominationTest : public ::testing::Test {
 protected:
  Nomination Nominate() {
    auto state = ClusterState::Build(BuildClusterStateInput(cluster_, engine_.gates()));
    EXPECT_TRUE(state.has_value());
    const ClusterLookup lookup(cluster_);
    Quota quota(queue_);
    quota.Add(quota_used_);
    return Nominator(engine_, *state, lookup).Nominate(workload_, {lookup, queue_, &quota, {}, {}});
  }
  PodSet& pod_set() { return workload_.pod_sets.front(); }

  // Takes all of a host but `left` gpus for an admitted workload.
  void Occupy(const std::string& host, std::int32_t left) {
    Workload& workload = cluster_.workloads.emplace_back(
        MakeWorkload("on-" + host, "gpu", {MakePodSet("main", 4 - left, {{"gpu", 1}})}));
    Admit(workload, "gpu-queue", "gpu", OnHosts({{host, 4 - left}}));
  }

  const Engine engine_{MakeCpuBackend(1), FeatureGates{}};
  Cluster cluster_ = MakeCluster();
  ClusterQueue queue_ = MakeQueue("gpu-queue", {"gpu"});
  QuotaUsage quota_used_;
  Workload workload_ =
      MakeWorkload("w", "gpu", {MakePodSet("main", 8, {{"gpu", 1}}, Required(kRack))});
};

TEST_F(NominationTest, FitHasAPlacementAndNoMessage) {  // R21.2
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kFit);
  EXPECT_EQ(nomination.answer.pod_sets[0].assignment, OnHosts({{"a1", 4}, {"a2", 4}}));
  EXPECT_EQ(nomination.message, "");
  EXPECT_EQ(nomination.pending_reason, "");
}

TEST_F(NominationTest, FitsOnlyOnTheEmptyStateIsPreempt) {  // R21.2, R21.5
  Occupy("a1", 1);
  Occupy("b1", 1);
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kPreempt);
  EXPECT_EQ(nomination.pending_reason, "WaitingForQuota");
  EXPECT_EQ(nomination.message,
            "couldn't assign flavors to pod set main: topology \"default\" allows to fit only 5 "
            "out of 8 pod(s)");
  EXPECT_EQ(nomination.answer.pod_sets[0].assignment, OnHosts({{"a1", 4}, {"a2", 4}}));
}

TEST_F(NominationTest, TextOfTheRealStateStaysWhenTheEmptyOneFailsToo) {  // R18.9
  pod_set().count = 9;
  Occupy("a1", 1);
  Occupy("b1", 1);
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kNoFit);
  EXPECT_EQ(nomination.pending_reason, "TopologyPlacementFailed");
  EXPECT_THAT(nomination.message, HasSubstr("allows to fit only 5 out of 9 pod(s)"));
}

TEST_F(NominationTest, QuotaInUseIsPreemptWithoutAPlacementOnTheRealState) {  // R21.2
  quota_used_ = {{{"gpu", "gpu"}, 1000}};
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kPreempt);
  EXPECT_EQ(nomination.message,
            "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor "
            "gpu, 8 more needed");
  EXPECT_TRUE(nomination.request.simulate_empty);
}

TEST_F(NominationTest, ReasonsOfNoFit) {
  pod_set().topology_request = Required("block");
  EXPECT_EQ(Nominate().pending_reason, "NoMatchingFlavor");
  pod_set().topology_request = Required(kRack);
  queue_ = MakeQueue("gpu-queue", {"gpu"}, 0, 4);
  EXPECT_EQ(Nominate().pending_reason, "ExceedsMaxQuota");
}

TEST_F(NominationTest, RequestErrorIsNoFit) {  // R20.3, R18.8
  workload_.pod_sets = {MakePodSet("main", 1, {})};
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kNoFit);
  EXPECT_EQ(nomination.message, "failed to assign flavors to pod set main: no TAS flavor assigned");
}

TEST_F(NominationTest, PartialAdmissionTakesTheLargestCountThatFits) {  // R21.11
  pod_set().count = 12;
  pod_set().min_count = 2;
  Occupy("a1", 3);
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kFit);
  EXPECT_EQ(nomination.flavors.pod_sets[0].count, 8);
  EXPECT_EQ(nomination.flavors.pod_sets[0].requests, (Resources{{"gpu", 8}}));
  EXPECT_EQ(nomination.answer.pod_sets[0].assignment, OnHosts({{"b1", 4}, {"b2", 4}}));
}

TEST_F(NominationTest, PartialAdmissionKeepsTheFullCountsFailureWhenNothingFits) {  // R21.11
  pod_set().count = 12;
  pod_set().min_count = 9;
  const Nomination nomination = Nominate();
  EXPECT_EQ(nomination.mode, AssignmentMode::kNoFit);
  EXPECT_THAT(nomination.message, HasSubstr("allows to fit only 8 out of 12 pod(s)"));
}

TEST_F(NominationTest, PartialAdmissionCountsQuotaToo) {  // R21.11
  queue_ = MakeQueue("gpu-queue", {"gpu"}, 0, 5);
  pod_set().min_count = 1;
  EXPECT_EQ(Nominate().flavors.pod_sets[0].count, 5);
}

TEST_F(NominationTest, SecondEvaluationHasNoAffinityScores) {  // R7.9
  Occupy("a1", 1);
  Occupy("b1", 1);
  EXPECT_TRUE(Nominate().request.affinity_scores_consumed);
  workload_.uid.clear();
  EXPECT_FALSE(Nominate().request.affinity_scores_consumed);
}

}  // namespace
}  // namespace espalier::nomination_test
