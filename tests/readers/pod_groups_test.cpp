// Pod groups of scheduling.k8s.io: which pods they wait for, and where their queue and topology
// come from.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::pod_groups_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;

constexpr const char* kPodGroups = R"(
{"apiVersion": "scheduling.k8s.io/v1alpha1", "kind": "Workload",
 "metadata": {"name": "w", "namespace": "team"},
 "spec": {"podGroups": [{"name": "g", "policy": {"gang": {"minCount": 2}}}]}}
)";

constexpr const char* kInGroup = R"("workloadRef": {"name": "w", "podGroup": "g"}, )";

// W4.4: never placed alone, and reconsidered as soon as the Workload is there.
TEST(PodGroups, PodsWaitForTheirWorkloadAndForEachOther) {
  const std::string one = PodText("p", kInGroup);
  EXPECT_THAT(UnitTexts(Read(one)),
              ElementsAre("w-g:Workload w is not in the input; 1 pod waits for it"));
  EXPECT_THAT(UnitTexts(Read(kPodGroups + one)), ElementsAre(HasSubstr("1 of the 2 pods")));
  EXPECT_THAT(UnitTexts(Read(kPodGroups + one + PodText("q", kInGroup))),
              ElementsAre("w-g: main x 2"));
}

TEST(PodGroups, PodsThatRunAreTakenOffTheMinimum) {
  const std::string running = PodText("p", std::string(kInGroup) + R"("nodeName": "n", )");
  const ClusterRead read = Read(kPodGroups + running + PodText("q", kInGroup));
  EXPECT_THAT(UnitTexts(read), ElementsAre("w-g: main x 1"));
  EXPECT_THAT(read.gang_workloads.at(0).notes, Contains("1 of its 2 pods run already: 1 on n"));
}

// W4.5.
TEST(PodGroups, MayBeOptedOutOf) {
  const std::string ignoring = R"(, "annotations": {"kai.scheduler/ignore-workload-api": "true"})";
  EXPECT_THAT(UnitTexts(Read(kPodGroups + PodText("p", kInGroup, ignoring))),
              Contains("p: main x 1"));
}

// W4.3: the Workload, else the object at the top of the pod's owners, else the pod.
TEST(PodGroups, QueueAndTopologyFallBackOnTheOwner) {
  const std::string job = R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j",
      "namespace": "team", "labels": {"kai.scheduler/queue": "of-owner"}, "annotations":
        {"kai.scheduler/topology-required-placement": "rack"}},
      "spec": {"template": {"spec": {"containers": [{"name": "c"}],
                                     "workloadRef": {"name": "w", "podGroup": "g"}}}}})";
  const std::string owned =
      R"(, "labels": {"kai.scheduler/queue": "of-pod"}, "ownerReferences":
          [{"kind": "Job", "name": "j", "controller": true}])";
  const ClusterRead read =
      Read(kPodGroups + job + PodText("p", kInGroup, owned) + PodText("q", kInGroup, owned));
  ASSERT_THAT(UnitTexts(read), ElementsAre("w-g: main x 2"));
  EXPECT_EQ(read.cluster.workloads[0].queue_name, "of-owner");
  EXPECT_EQ(read.cluster.workloads[0].pod_sets[0].topology_request->required, "rack");
}

std::string Composite(const std::string& name, const std::string& parent) {
  return R"({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "CompositePodGroup",
             "metadata": {"namespace": "team", "name": ")" +
         name + R"("}, "spec": {"parentCompositePodGroupName": ")" + parent + R"("}})" + "\n";
}

// W3.2: a group below nothing that is read is no gang of its own.
TEST(PodGroups, WaitForTheGroupsAboveThem) {
  const std::string group = R"({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
      "metadata": {"name": "g", "namespace": "team"}, "spec": {
        "parentCompositePodGroupName": "c", "schedulingPolicy": {"gang": {"minCount": 1}}}})"
                            "\n" +
                            PodText("p", R"("schedulingGroup": {"podGroupName": "g"}, )");
  EXPECT_THAT(UnitTexts(Read(group)),
              ElementsAre("g:CompositePodGroup c is not in the input; it waits for it"));
  EXPECT_THAT(UnitTexts(Read(group + Composite("c", ""))), ElementsAre("c: g x 1"));
  const std::string cycle = "the groups above it, from c on, are too many or lead back to it";
  EXPECT_THAT(UnitTexts(Read(group + Composite("c", "c"))),
              ElementsAre("c:" + cycle, "g:" + cycle));
}

TEST(PodGroups, BelowACompositeGiveItTheirQueue) {
  const auto group = [](const std::string& labels) {
    return R"({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
      "metadata": {"name": "g", "namespace": "team")" +
           labels + R"(}, "spec": {
        "parentCompositePodGroupName": "c", "schedulingPolicy": {"gang": {"minCount": 1}}}})" +
           "\n";
  };
  const std::string pod = PodText("p", R"("schedulingGroup": {"podGroupName": "g"}, )",
                                  R"(, "labels": {"kai.scheduler/queue": "of-pod"})");
  EXPECT_EQ(Read(Composite("c", "") + group("") + pod).cluster.workloads.at(0).queue_name,
            "of-pod");
  EXPECT_EQ(
      Read(Composite("c", "") + group(R"(, "labels": {"kai.scheduler/queue": "of-group"})") + pod)
          .cluster.workloads.at(0)
          .queue_name,
      "of-group");
}

// W1.3: pods of a group that needs none of them are there all the same.
TEST(PodGroups, ThatNeedNoneStartTheirPodsOneByOne) {
  const auto units = [](const std::string& version, const std::string& kind,
                        const std::string& spec, const std::string& pod) {
    return UnitTexts(Read(R"({"apiVersion": ")" + version + R"(", "kind": ")" + kind + R"(",
        "metadata": {"name": "g", "namespace": "team"}, "spec": {)" +
                          spec + "}}\n" + pod));
  };
  const auto two = [](const std::string& spec, const std::string& metadata) {
    return PodText("p", spec, metadata) + PodText("q", spec, metadata);
  };
  EXPECT_THAT(units("scheduling.x-k8s.io/v1alpha1", "PodGroup", R"("minMember": 0)",
                    two("", R"(, "labels": {"scheduling.x-k8s.io/pod-group": "g"})")),
              ElementsAre("g-0: main x 1", "g-1: main x 1"));
  EXPECT_THAT(units("scheduling.volcano.sh/v1beta1", "PodGroup", R"("minMember": 0)",
                    two("", R"(, "annotations": {"scheduling.k8s.io/group-name": "g"})")),
              ElementsAre("g-0: main x 1", "g-1: main x 1"));
  EXPECT_THAT(units("scheduling/v1alpha1", "Workload", R"("gangGroups": [{"minCount": 0}])",
                    two(R"("workload": {"name": "g"}, )", "")),
              ElementsAre("g-0: main x 1", "g-1: main x 1"));
}

// The finest of several keys is that which is shared with all above it.
TEST(PodGroups, RequireAllOfSeveralKeys) {
  const std::string topology = R"({"apiVersion": "kueue.x-k8s.io/v1beta1", "kind": "Topology",
      "metadata": {"name": "t"}, "spec": {"levels": [{"nodeLabel": "block"}, {"nodeLabel": "rack"}]}})";
  const auto group = [](const std::string& keys) {
    return R"({"apiVersion": "scheduling.k8s.io/v1alpha2", "kind": "PodGroup",
      "metadata": {"name": "g", "namespace": "team"}, "spec": {
        "schedulingConstraints": {"topology": [)" +
           keys + R"(]}, "schedulingPolicy": {"gang": {"minCount": 1}}}})" + "\n" +
           PodText("p", R"("schedulingGroup": {"podGroupName": "g"}, )");
  };
  const ClusterRead both = Read(topology + group(R"({"key": "rack"}, {"key": "block"})"));
  EXPECT_EQ(both.cluster.workloads.at(0).pod_sets.at(0).topology_request->required, "rack");
  EXPECT_THAT(
      UnitTexts(Read(topology + group(R"({"key": "rack"}, {"key": "zone"})"))),
      ElementsAre("g:gangGroup gg asks for zone, rack, and no topology of the input has all "
                  "of them"));
}

TEST(PodGroup, OfNoPodIsNotCalledMissing) {
  const std::string error = ErrorOf(R"(
apiVersion: scheduling.k8s.io/v1alpha2
kind: PodGroup
metadata: {name: g, namespace: team}
spec: {schedulingPolicy: {gang: {minCount: 0}}}
)");
  EXPECT_THAT(error, HasSubstr("spec.schedulingPolicy.gang.minCount: it is"));
  EXPECT_THAT(error, testing::Not(HasSubstr("missing")));
}

}  // namespace
}  // namespace espalier::pod_groups_test
