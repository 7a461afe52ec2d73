#include "host/kueue/objects/workload_requests.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::workload_requests_test {
namespace {

using ::testing::IsEmpty;

class WorkloadRequestsTest : public ::testing::Test {
 protected:
  WorkloadRequestsTest() {
    cluster_.workloads = {MakeWorkload(
        "w", "gpu", {MakePodSet("main", 2, {{"cpu", 1000}, {"gpu", 1}}, Required(kRack))})};
  }
  Workload& workload() { return cluster_.workloads.front(); }
  PodSet& pod_set() { return workload().pod_sets.front(); }

  tl::expected<WorkloadRequest, std::string> Build() {
    const ClusterLookup lookup(cluster_);
    FlavorAssignment flavors = flavors_.value_or(
        ChooseFlavors(workload(), PendingCounts(workload()), {lookup, queue_, nullptr, {}, {}}));
    return BuildWorkloadRequest(workload(), flavors, {lookup, gates_, &queue_});
  }

  Cluster cluster_ = MakeCluster();
  ClusterQueue queue_ = MakeQueue("gpu-queue", {"gpu"});
  FeatureGates gates_;
  std::optional<FlavorAssignment> flavors_;
};

TEST_F(WorkloadRequestsTest, CarriesThePodSet) {
  pod_set().pod_template.node_selector = {{"zone", "z1"}};
  pod_set().topology_request->pod_set_group_name = "g";
  const auto request = Build();
  ASSERT_TRUE(request.has_value());
  EXPECT_EQ(request->key, workload().key);
  ASSERT_EQ(request->pod_sets.size(), 1U);
  const PodSetRequest& asked = request->pod_sets[0];
  EXPECT_EQ(asked.flavor, "gpu");
  EXPECT_EQ(asked.count, 2);
  EXPECT_EQ(asked.requests, pod_set().pod_template.requests);  // R20.4
  EXPECT_EQ(asked.topology_request, pod_set().topology_request);
  EXPECT_EQ(asked.group, "g");  // R20.7
  EXPECT_FALSE(asked.implied);
  EXPECT_EQ(asked.pod_template, pod_set().pod_template);
  EXPECT_FALSE(request->replacement);
}

TEST_F(WorkloadRequestsTest, ImpliedInATasOnlyQueueLeftOutInAMixedOne) {  // R20.1, R20.2
  pod_set().topology_request.reset();
  EXPECT_TRUE(Build()->pod_sets[0].implied);
  queue_ = MakeQueue("gpu-queue", {"cpu", "gpu"});
  EXPECT_THAT(Build()->pod_sets, IsEmpty());
}

TEST_F(WorkloadRequestsTest, PodSetsWithoutPodsAreLeftOut) {  // R20.2
  pod_set().count = 0;
  EXPECT_THAT(Build()->pod_sets, IsEmpty());
}

TEST_F(WorkloadRequestsTest, PodSetsWithAnAssignmentAreLeftOut) {  // R20.2
  flavors_.emplace();
  Admit(workload(), "gpu-queue", "gpu", OnHosts({{"a1", 2}}));
  flavors_ = RecordedFlavors(workload());
  EXPECT_THAT(Build()->pod_sets, IsEmpty());
  EXPECT_FALSE(NeedsReplacement(workload()));
  workload().unhealthy_nodes = {"b1"};
  EXPECT_THAT(Build()->pod_sets, IsEmpty());
  EXPECT_FALSE(NeedsReplacement(workload()));
}

TEST_F(WorkloadRequestsTest, UnhealthyNodeAsksForAReplacement) {  // R15.9, R20.2
  Admit(workload(), "gpu-queue", "gpu", OnHosts({{"a1", 1}, {"a2", 1}}));
  workload().unhealthy_nodes = {"a2"};
  EXPECT_TRUE(NeedsReplacement(workload()));
  flavors_ = RecordedFlavors(workload());
  const auto request = Build();
  ASSERT_EQ(request->pod_sets.size(), 1U);
  ASSERT_TRUE(request->replacement);
  EXPECT_EQ(request->replacement->unhealthy_nodes, workload().unhealthy_nodes);
  EXPECT_EQ(request->replacement->admitted, workload().admission->pod_set_assignments);
  EXPECT_FALSE(request->replacement->owned_by_single_pod);
}

TEST_F(WorkloadRequestsTest, SinglePodOwner) {  // R17.2
  Admit(workload(), "gpu-queue", "gpu", OnHosts({{"a2", 2}}));
  workload().unhealthy_nodes = {"a2"};
  flavors_ = RecordedFlavors(workload());
  workload().owners = {{"v1", "Pod", "p", "u", true}};
  EXPECT_TRUE(Build()->replacement->owned_by_single_pod);
  workload().annotations.Set("kueue.x-k8s.io/is-group-workload", "yes");
  EXPECT_TRUE(Build()->replacement->owned_by_single_pod);
  workload().annotations.Set("kueue.x-k8s.io/is-group-workload", "true");
  EXPECT_FALSE(Build()->replacement->owned_by_single_pod);
}

TEST_F(WorkloadRequestsTest, UpdatesOfReadyChecksInOrder) {  // R6.10
  const auto update = [](const char* pod_set, const char* value) {
    PodSetUpdate made;
    made.name = pod_set;
    made.node_selector = {{"pool", value}};
    return made;
  };
  workload().admission_checks = {{"c", "Ready", {update("main", "1"), update("other", "2")}},
                                 {"b", "Pending", {update("main", "3")}},
                                 {"a", "Ready", {update("main", "4")}}};
  const auto request = Build();
  EXPECT_EQ(request->pod_sets[0].updates,
            (std::vector<PodSetUpdate>{update("main", "1"), update("main", "4")}));
}

TEST_F(WorkloadRequestsTest, NoTasFlavorInTheQueue) {  // R20.3
  flavors_.emplace().pod_sets = {
      {.name = "main", .count = 2, .flavors = {}, .requests = {}, .refusals = {}}};
  queue_ = MakeQueue("q", {"cpu"});
  EXPECT_EQ(Build().error(),
            "failed to assign flavors to pod set main: workload requires Topology, but there is no "
            "TAS cache information");
}

TEST_F(WorkloadRequestsTest, NoneOrSeveralTasFlavorsAssigned) {  // R20.3
  PodSetFlavors chosen;
  chosen.name = "main";
  chosen.count = 2;
  flavors_.emplace().pod_sets = {chosen};
  EXPECT_EQ(Build().error(), "failed to assign flavors to pod set main: no TAS flavor assigned");
  cluster_.flavors.push_back(MakeFlavor("b200", "default"));
  flavors_->pod_sets[0].flavors = {{"cpu", "gpu"}, {"gpu", "b200"}};
  EXPECT_EQ(Build().error(),
            "failed to assign flavors to pod set main: more than one TAS flavor assigned: b200, "
            "gpu");
}

class ElasticTest : public WorkloadRequestsTest {
 protected:
  ElasticTest() {
    gates_.elastic_jobs_via_workload_slices_with_tas = true;
    pod_set().topology_request = Unconstrained();
    Workload old = MakeWorkload("old", "gpu", {pod_set()});
    Admit(old, "gpu-queue", "gpu", OnHosts({{"a1", 2}}));
    cluster_.workloads.push_back(old);
    workload().annotations = {{"kueue.x-k8s.io/elastic-job", "true"},
                              {"kueue.x-k8s.io/workload-slice-replacement-for", "team/old"}};
  }
};

TEST_F(ElasticTest, PreviousAssignmentOfTheReplacedSlice) {  // R20.8
  EXPECT_EQ(Build()->pod_sets[0].previous_assignment, OnHosts({{"a1", 2}}));
  gates_.elastic_jobs_via_workload_slices_with_tas = false;
  EXPECT_FALSE(Build()->pod_sets[0].previous_assignment);
}

TEST_F(ElasticTest, RequiredAndPreferredAreRefused) {  // R20.3
  pod_set().topology_request = Required(kRack);
  EXPECT_EQ(Build().error(),
            "failed to assign flavors to pod set main: required topology is not supported with "
            "ElasticJobsViaWorkloadSlices");
  pod_set().topology_request = TopologyRequest{.preferred = kRack};
  EXPECT_EQ(Build().error(),
            "failed to assign flavors to pod set main: preferred topology is not supported with "
            "ElasticJobsViaWorkloadSlices");
}

}  // namespace
}  // namespace espalier::workload_requests_test
