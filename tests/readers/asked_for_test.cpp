// Tests what a workload asks for by reference: replica keys, policies, resource claims, KAI's
// queues and topologies, templates of kinds that are not known.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::asked_for_test {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kPodGroups = R"(
{"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload",
 "metadata": {"name": "w", "namespace": "team"},
 "spec": {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 2}}},
                        {"name": "b", "policy": {"basic": {}}}]}}
)";

// W4.1: KAI's description of the reference has a shorter name for the key.
TEST(ReplicaKey, HasTwoNames) {
  const ClusterRead read =
      Read(kPodGroups + PodText("p", R"("workloadRef": {"name": "w", "podGroup": "g",
                                        "replicaKey": "0"}, )") +
           PodText("q", R"("workloadRef": {"name": "w", "podGroup": "g",
                           "podGroupReplicaKey": "1"}, )"));
  EXPECT_THAT(UnitTexts(read),
              ElementsAre("w-g-0:1 of the 2 pods that w-g-0 needs are there: it waits for the "
                          "others",
                          "w-g-1:1 of the 2 pods that w-g-1 needs are there: it waits for the "
                          "others",
                          "w-b:"));
}

TEST(ReplicaKey, OfTwoNamesIsOneKey) {
  const auto read = ReadClusterText(
      "f", PodText("p", R"("workloadRef": {"name": "w", "podGroup": "g", "replicaKey": "0",
                           "podGroupReplicaKey": "1"}, )"));
  ASSERT_FALSE(read);
  EXPECT_THAT(read.error().message, HasSubstr("spec.workloadRef.replicaKey"));
}

TEST(References, NameUnknownKeys) {
  const ClusterRead read =
      Read(kPodGroups +
           PodText("p", R"("workloadRef": {"name": "w", "podGroup": "b", "replica": "0"}, )"));
  EXPECT_THAT(read.diagnostics.RenderWarnings(), HasSubstr("the key replica is unknown"));
}

// W4.2: one group for all replica keys, which needs one pod, whichever it is.
TEST(BasicPolicy, IsOneGroupThatNeedsOnePod) {
  const ClusterRead read =
      Read(kPodGroups + PodText("p", R"("workloadRef": {"name": "w", "podGroup": "b"}, )") +
           PodText("q", R"("workloadRef": {"name": "w", "podGroup": "b", "replicaKey": "1"}, )") +
           PodText("r", R"("workloadRef": {"name": "w", "podGroup": "b", "replicaKey": "2"}, )"));
  ASSERT_THAT(UnitTexts(read),
              ElementsAre("w-g:none of its pods is there: it waits for them", "w-b: main x 3"));
  const GangGroup& gang = read.gang_workloads.at(1).gang_groups.at(0);
  EXPECT_EQ(gang.mode, GangMode::kGang);
  EXPECT_EQ(gang.min_count, 1);
  EXPECT_EQ(gang.max_count, 3);
  EXPECT_EQ(gang.pod_group, "w-b");
  EXPECT_TRUE(read.cluster.workloads[1].tree);
}

constexpr const char* kTopology = R"(
{"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology", "metadata": {"name": "t"}, "spec":
 {"levels": [{"nodeLabel": "net/block"}, {"nodeLabel": "kubernetes.io/hostname"}]}}
)";

constexpr const char* kClaiming = R"(
{"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
 "metadata": {"name": "w", "namespace": "team"}, "spec":
 {"topologyRequest": {"resourceClaims": [{"name": "net", "resourceClaim": "c"}]},
  "gangGroups": [{"minCount": 2, "eqGroups":
    [{"count": 2, "template": {"resources": {"requests": {"cpu": 1}}}}]}]}}
)";

std::string Claim(const std::string& spec, const std::string& status = "") {
  return R"({"apiVersion": "resource.k8s.io/v1", "kind": "ResourceClaim", "metadata":
            {"name": "c", "namespace": "team"}, "spec": {"devices": )" +
         spec + "}" + status + "}\n";
}

constexpr const char* kAllocated = R"(, "status": {"allocation": {"nodeSelector":
  {"nodeSelectorTerms": [{"matchExpressions": [
    {"key": "net/block", "operator": "In", "values": ["b2"]}]}]}}})";

// W8.2.
TEST(ResourceClaims, OfARequestBindItsPodsWhereTheyAreAllocated) {
  const ClusterRead read = Read(std::string(kTopology) + kClaiming + Claim("{}", kAllocated));
  ASSERT_THAT(UnitTexts(read), ElementsAre("w: template x 2"));
  const auto& required = read.cluster.workloads[0].pod_sets[0].pod_template.affinity.required;
  ASSERT_TRUE(required);
  EXPECT_THAT(required->at(0).match_expressions,
              ElementsAre(NodeSelectorRequirement{"net/block", "In", {"b2"}}));
}

TEST(ResourceClaims, NameALevelByClassOrAttributes) {
  const std::string by_class =
      R"({"requests": [{"name": "r", "exactly": {"deviceClassName": "block"}}]})";
  const std::string by_constraint = R"({"constraints": [{"matchAttribute": "net/block"}]})";
  const std::string by_selector = R"j({"requests": [{"name": "r", "exactly": {"deviceClassName":
      "x", "selectors": [{"cel": {"expression": "has(device.attributes['net'].block)"}}]}}]})j";
  for (const std::string& devices : {by_class, by_constraint, by_selector}) {
    const ClusterRead read = Read(std::string(kTopology) + kClaiming + Claim(devices));
    ASSERT_THAT(UnitTexts(read), ElementsAre("w: template x 2"));
    EXPECT_EQ(read.cluster.workloads[0].pod_sets[0].topology_request->required, "net/block");
  }
}

TEST(ResourceClaims, ThatAreNotUnderstoodRefuse) {
  EXPECT_THAT(UnitTexts(Read(std::string(kTopology) + kClaiming)).at(0),
              HasSubstr("resourceClaim c is not in the input"));
  const std::string of_gpu =
      R"({"requests": [{"name": "r", "exactly": {"deviceClassName": "gpu"}}]})";
  EXPECT_THAT(UnitTexts(Read(std::string(kTopology) + kClaiming + Claim(of_gpu))).at(0),
              HasSubstr("DeviceClass gpu is not in the input"));
}

TEST(ResourceClaims, OfATemplateBindItsPods) {
  const ClusterRead read =
      Read(std::string(kTopology) + Claim("{}", kAllocated) +
           R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j", "namespace":
          "team", "labels": {"kueue.x-k8s.io/queue-name": "q"}}, "spec": {"template": {"spec": {"resourceClaims":
          [{"name": "n", "resourceClaimName": "c"}], "containers": [{"resources": {"requests":
          {"cpu": "1"}}}]}}}})" +
           "\n");
  ASSERT_THAT(read.cluster.workloads, SizeIs(1));
  const PodTemplate& pods = read.cluster.workloads[0].pod_sets.at(0).pod_template;
  EXPECT_TRUE(pods.affinity.required);
  EXPECT_THAT(pods.ignored_constraints, IsEmpty());
}

TEST(ResourceClaims, OfPodsBindThemToo) {
  const ClusterRead read =
      Read(std::string(kTopology) + Claim("{}", kAllocated) +
           PodText("p", R"("resourceClaims": [{"name": "n", "resourceClaimName": "c"}], )"));
  ASSERT_THAT(UnitTexts(read), ElementsAre("p: main x 1"));
  const PodTemplate& pod = read.cluster.workloads[0].pod_sets[0].pod_template;
  EXPECT_TRUE(pod.affinity.required);
  EXPECT_THAT(pod.ignored_constraints, IsEmpty());
}

// W4.6: queues of KAI's offer every flavor, and its topologies are flavors of all nodes.
TEST(KaiCluster, NeedsNoFlavorAndNoLocalQueue) {
  const ClusterRead read = Read(R"(
apiVersion: kai.scheduler/v1alpha1
kind: Topology
metadata: {name: racks}
spec: {levels: [{nodeLabel: rack}, {nodeLabel: kubernetes.io/hostname}]}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: root}
spec: {resources: {cpu: {limit: 4000}}}
---
apiVersion: scheduling.run.ai/v2
kind: Queue
metadata: {name: leaf}
spec: {parentQueue: root, resources: {cpu: {quota: 1000, limit: -1}}}
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: w, annotations: {kai.scheduler/queue: leaf, kai.scheduler/topology: racks}}
spec: {podGroups: [{name: g, policy: {gang: {minCount: 1}}}]}
---
apiVersion: v1
kind: Pod
metadata: {name: p}
spec: {workloadRef: {name: w, podGroup: g}, containers: [{resources: {requests: {cpu: 1}}}]}
)");
  ASSERT_THAT(read.cluster.workloads, SizeIs(1));
  EXPECT_EQ(read.cluster.workloads[0].topology_name, "racks");
  ASSERT_THAT(read.cluster.flavors, SizeIs(1));
  EXPECT_EQ(read.cluster.flavors[0].topology_name, "racks");
  ASSERT_THAT(read.cluster.local_queues, SizeIs(1));
  EXPECT_EQ(read.cluster.local_queues[0].cluster_queue, "leaf");
  const ClusterQueue& leaf = read.cluster.cluster_queues.at(1);
  EXPECT_EQ(leaf.resource_groups[0].flavors[0].resources[0].resource, "cpu");
  EXPECT_EQ(leaf.resource_groups[0].flavors[0].resources[0].nominal, 4000);
  EXPECT_THAT(leaf.unknown_fields, ElementsAre("spec.resources.cpu.quota"));
}

constexpr const char* kRollout = R"(
{"apiVersion": "argoproj.io/v1alpha1", "kind": "Rollout", "metadata": {"name": "ro"}, "spec":
 {"replicas": 3, "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": 1}}}]}}}}
)";

TEST(UnknownKinds, AreReadThroughTheirTemplatesWhereAWorkloadNamesThem) {
  EXPECT_THAT(UnitTexts(Read(kRollout)).at(0), HasSubstr("is not a kind that is read"));
  const ClusterRead read = Read(std::string(kRollout) + R"(
{"apiVersion": "scheduling/v1alpha1", "kind": "Workload", "metadata": {"name": "w"}, "spec":
 {"controllerRef": {"apiGroup": "argoproj.io", "kind": "Rollout", "name": "ro"},
  "gangGroups": [{"name": "gg", "minCount": 3}]}}
)");
  EXPECT_THAT(UnitTexts(read), ElementsAre("w: main x 3"));
}

}  // namespace
}  // namespace espalier::asked_for_test
