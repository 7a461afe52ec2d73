#include "host/kueue/objects/cluster_input.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::cluster_input_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

Pod BoundPod(const std::string& node, Resources requests) {
  Pod pod;
  pod.node_name = node;
  pod.phase = "Running";
  pod.requests = std::move(requests);
  return pod;
}

TEST(NonTasUsage, SumsRequestsAndSlotsPerNode) {  // R5.3
  const std::vector<Pod> pods = {BoundPod("n2", {{"cpu", 100}}), BoundPod("n1", {{"cpu", 5}}),
                                 BoundPod("n2", {{"cpu", 20}, {"gpu", 1}})};
  EXPECT_THAT(NonTasUsage(pods),
              ElementsAre(NodeUsage{"n1", {{"cpu", 5}, {"pods", 1}}},
                          NodeUsage{"n2", {{"cpu", 120}, {"gpu", 1}, {"pods", 2}}}));
}

TEST(NonTasUsage, LeavesOutUnboundAndTerminatedPods) {  // R5.2
  std::vector<Pod> pods(3, BoundPod("n1", {{"cpu", 5}}));
  pods[0].node_name.clear();
  pods[1].phase = "Succeeded";
  pods[2].phase = "Failed";
  EXPECT_THAT(NonTasUsage(pods), IsEmpty());
  pods[2].phase = "Pending";
  EXPECT_EQ(NonTasUsage(pods).size(), 1U);
}

TEST(NonTasUsage, LeavesOutTasPodsByThePresenceOfAnAnnotation) {  // R5.2
  for (const char* key :
       {"podset-required-topology", "podset-preferred-topology", "podset-unconstrained-topology",
        "podset-slice-required-topology", "podset-slice-required-topology-constraints"}) {
    Pod pod = BoundPod("n1", {{"cpu", 5}});
    pod.annotations.Set(std::string("kueue.x-k8s.io/") + key, "");
    EXPECT_TRUE(IsTasPod(pod)) << key;
    EXPECT_THAT(NonTasUsage({pod}), IsEmpty()) << key;
  }
  Pod pod = BoundPod("n1", {{"cpu", 5}});
  pod.annotations.Set("kueue.x-k8s.io/podset-group-name", "g");
  EXPECT_FALSE(IsTasPod(pod));
}

class TasUsageTest : public ::testing::Test {
 protected:
  TasUsageTest() {
    cluster_.workloads = {MakeWorkload(
        "w", "gpu", {MakePodSet("main", 3, {{"cpu", 100}, {"gpu", 1}}, Required(kRack))})};
    Admit(workload(), "gpu-queue", "gpu", OnHosts({{"a1", 1}, {"a2", 2}}));
  }
  Workload& workload() { return cluster_.workloads.front(); }
  std::vector<FlavorLeafUsage> Usage() { return TasUsage(workload(), ClusterLookup(cluster_)); }

  Cluster cluster_ = MakeCluster();
};

TEST_F(TasUsageTest, CountTimesTemplateRequestsAndSlots) {                     // R5.4
  workload().admission->pod_set_assignments[0].resource_usage = {{"cpu", 1}};  // not looked at
  EXPECT_THAT(Usage(),
              ElementsAre(FlavorLeafUsage{"gpu", "a1", {{"cpu", 100}, {"gpu", 1}, {"pods", 1}}},
                          FlavorLeafUsage{"gpu", "a2", {{"cpu", 200}, {"gpu", 2}, {"pods", 2}}}));
}

TEST_F(TasUsageTest, ReclaimablePodsDoNotReduceIt) {  // R5.4
  const auto before = Usage();
  workload().reclaimable_pods = {{"main", 2}};
  EXPECT_EQ(Usage(), before);
}

TEST_F(TasUsageTest, FinishedWorkloadsUseNothing) {
  SetCondition(workload(), {"Finished", "True", "", ""});
  EXPECT_THAT(Usage(), IsEmpty());
}

TEST_F(TasUsageTest, EvictedWorkloadsUseItUntilTheReservationIsGone) {
  SetCondition(workload(), {"Evicted", "True", "Preempted", ""});
  EXPECT_EQ(Usage().size(), 2U);
  SetCondition(workload(), {"QuotaReserved", "False", "Pending", ""});
  EXPECT_THAT(Usage(), IsEmpty());
}

TEST_F(TasUsageTest, IsBookedUnderTheFlavorWithATopology) {
  auto& flavors = workload().admission->pod_set_assignments[0].flavors;
  flavors = {{"cpu", "cpu"}, {"gpu", "gpu"}};
  EXPECT_EQ(Usage().front().flavor, "gpu");
  flavors = {{"cpu", "cpu"}};
  EXPECT_THAT(Usage(), IsEmpty());
}

TEST_F(TasUsageTest, LeafIdJoinsAllValues) {  // R5.4
  workload().admission->pod_set_assignments[0].topology_assignment =
      TopologyAssignment{{"block", "rack"}, {{{"b1", "r1"}, 3}}};
  EXPECT_EQ(Usage().front().leaf, "b1,r1");
}

TEST(BuildClusterStateInput, LeavesOutFlavorsWithoutATopologyInTheCluster) {  // R20.9
  Cluster cluster = MakeCluster();
  cluster.flavors.push_back(MakeFlavor("lost", "unknown"));
  const ClusterStateInput input = BuildClusterStateInput(cluster, FeatureGates{});
  ASSERT_EQ(input.flavors.size(), 1U);
  EXPECT_EQ(input.flavors[0].name, "gpu");
  EXPECT_EQ(input.nodes.size(), 4U);
  EXPECT_TRUE(input.share_usage_between_flavors);
}

TEST(BuildClusterStateInput, GateDecidesWhetherFlavorsShareUsage) {  // R5.6
  FeatureGates gates;
  gates.handle_overlapping_flavors = false;
  EXPECT_FALSE(BuildClusterStateInput(MakeCluster(), gates).share_usage_between_flavors);
}

}  // namespace
}  // namespace espalier::cluster_input_test
