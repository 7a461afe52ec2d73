// Gangs that are described apart from their pods, and who wins where two describe the same.
#include <algorithm>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/readers/cluster_files.hpp"
#include "tests/readers/read_text.hpp"

namespace espalier::gang_sources_test {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::SizeIs;

constexpr const char* kTwoParts = R"(
{"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
 "metadata": {"name": "w", "namespace": "team"}, "spec": {"gangGroups": [
   {"name": "a", "minCount": 1, "selector": {"matchLabels": {"role": "a"}}},
   {"name": "b", "minCount": 2, "selector": {"matchLabels": {"role": "b"}}}]}}
)";

// W8.3: by label, by field path and by field.
TEST(GangApiPods, SayWhichPartTheyAre) {
  const ClusterRead read = Read(
      kTwoParts + PodText("p", R"("workload": {"name": "w"}, )", R"(, "labels": {"role": "a"})") +
      PodText("q", R"("workload": {"name": "w", "fieldPath": "spec.gangGroup[name=b]"}, )",
              R"(, "labels": {"role": "b"})") +
      PodText("r", R"("workload": {"name": "w", "gangGroup": "b"}, )",
              R"(, "labels": {"role": "b"})"));
  ASSERT_THAT(read.gang_workloads, SizeIs(1));
  EXPECT_THAT(UnitTexts(read), ElementsAre("w-a: main x 1", "w-b: main x 2"));
}

// Levels without a name have the one that the canonical model gives them.
TEST(GangApiPods, NamePartsByTheirDefaultNames) {
  const ClusterRead read = Read(
      R"({"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
          "metadata": {"name": "w", "namespace": "team"}, "spec": {"gangGroups": [
            {"minCount": 1, "eqGroups": [{"template": {"resources": {"requests": {"cpu": 1}}}}]},
            {"minCount": 1, "eqGroups": [{"template": {"resources": {"requests": {"cpu": 1}}}}]}
          ]}})" +
      PodText("p", R"("workload": {"name": "w", "gangGroup": "gg-0", "rankedGroup": "rg"}, )") +
      PodText("q", R"("workload": {"name": "w", "fieldPath":
                        "spec.gangGroup[name=gg-1].rankedGroup[name=rg].eqGroup[name=template]"}, )"));
  EXPECT_THAT(UnitTexts(read), ElementsAre("w-gg-0: template x 1", "w-gg-1: template x 1"));
}

// One line for all of them, not one for each pod.
TEST(GangApiPods, ThatMatchNoPartOrSeveralAreCounted) {
  const ClusterRead read = Read(kTwoParts + PodText("p", R"("workload": {"name": "w"}, )") +
                                PodText("q", R"("workload": {"name": "w"}, )"));
  EXPECT_THAT(read.gang_workloads.at(0).notes, Contains("2 pods match no part of it"));
  const ClusterRead unlabelled = Read(
      R"({"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
          "metadata": {"name": "w", "namespace": "team"}, "spec": {"gangGroups": [
            {"name": "a", "minCount": 1}, {"name": "b", "minCount": 1}]}})" +
      PodText("p", R"("workload": {"name": "w"}, )"));
  EXPECT_THAT(unlabelled.gang_workloads.at(0).notes,
              Contains("1 pod matches more than one part of it: a and b"));
}

TEST(GangApiPods, ReferencesDoNotCrossNamespaces) {
  EXPECT_THAT(ErrorOf(PodText("p", R"("workload": {"name": "w", "namespace": "other"}, )")),
              HasSubstr("a reference does not cross namespaces"));
  EXPECT_THAT(ErrorOf(PodText("p", R"("workload": {"name": "w"},
                                      "schedulingGroup": {"podGroupName": "g"}, )")),
              HasSubstr("it names a second workload"));
}

TEST(GangApiPods, NameTheirPodGroup) {
  EXPECT_THAT(ErrorOf(PodText("p", R"("workloadRef": {"name": "w"}, )")),
              HasSubstr("spec.workloadRef.podGroup: it is missing"));
}

// The user's own Workload takes the place of what its true workload would give.
TEST(GangApiWorkload, TakesWhatItLeavesOpenFromItsTrueWorkload) {
  const ClusterRead read = Read(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 8
  completions: 8
  template: {spec: {containers: [{resources: {requests: {cpu: 2}}}]}}
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: w, namespace: team}
spec:
  controllerRef: {apiGroup: batch/v1, kind: Job, name: j}
  topologyRequest: {policy: Required, level: rack}
  gangGroups: [{name: gg, minCount: 8}]
)");
  ASSERT_THAT(read.diagnostics.warnings(), SizeIs(1));
  EXPECT_THAT(ToString(read.diagnostics.warnings()[0]),
              HasSubstr("apiGroup: it has a version, and is read without, got \"batch/v1\"; want "
                        "batch"));
  EXPECT_THAT(UnitTexts(read), ElementsAre("w: main x 8"));
  EXPECT_EQ(read.cluster.workloads[0].queue_name, "q");
  EXPECT_EQ(read.cluster.workloads[0].pod_sets[0].topology_request->required, "rack");
}

TEST(GangApiWorkload, NamesWhatIsWrong) {
  const auto with = [](const std::string& spec) {
    return R"({"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
               "metadata": {"name": "w"}, "spec": )" +
           spec + "}";
  };
  EXPECT_THAT(ErrorOf(with(R"({"replicaMode": "Twice"})")),
              HasSubstr("spec.replicaMode: there is no such replicaMode, got \"Twice\"; want "
                        "Unreplicated or ReplicatedPods or ReplicatedGangs"));
  EXPECT_THAT(ErrorOf(with(R"({"gangGroups": [{"minCount": 3, "maxCount": 2}]})")),
              HasSubstr("spec.gangGroups[0].minCount: it is above maxCount"));
  EXPECT_THAT(ErrorOf(with(R"({"replicaMode": "ReplicatedGangs", "gangGroups": [{}, {}]})")),
              HasSubstr("matches the one gangGroup that is listed"));
  EXPECT_THAT(ErrorOf(R"({"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
                          "spec": {"gangGroups": [{"eqGroups": [{"template": {}}]}]}})"),
              HasSubstr("metadata: it is missing"));
  const ClusterRead unknown = Read(with(R"({"gangGroups": [{"minCuont": 3}]})"));
  EXPECT_THAT(unknown.diagnostics.RenderWarnings(),
              HasSubstr("spec.gangGroups[0].minCuont: the key minCuont is unknown"));
  const ClusterRead off = Read(with(R"({"gangGroups": [{"gangMode": "off"}]})"));
  EXPECT_EQ(off.gang_workloads.at(0).gang_groups.at(0).mode, GangMode::kOff);
  EXPECT_THAT(off.diagnostics.RenderWarnings(), HasSubstr("it is written otherwise, got \"off\""));
}

// W1.6, W2.3: Kueue reads one of the two (R20.11), profile espalier both.
TEST(Sources, RequiredAndPreferredMayMeet) {
  constexpr const char* kJobs = R"(
apiVersion: batch/v1
kind: Job
metadata: {name: job, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  parallelism: 4
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: block,
                             kueue.x-k8s.io/podset-preferred-topology: rack}}
    spec: {nodeName: node-1, containers: [{resources: {requests: {cpu: 1}}}]}
---
apiVersion: apps/v1
kind: StatefulSet
metadata: {name: set, namespace: team, labels: {kueue.x-k8s.io/queue-name: q}}
spec:
  replicas: 4
  podManagementPolicy: Parallel
  volumeClaimTemplates: [{metadata: {name: data}}]
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-required-topology: block,
                             kueue.x-k8s.io/podset-preferred-topology: rack}}
    spec: {containers: [{resources: {requests: {cpu: 1}}}]}
)";
  const ClusterRead flat = Read(kJobs);
  ASSERT_THAT(flat.gang_workloads, SizeIs(2));
  for (std::size_t i = 0; i < 2; ++i) {
    const TopologyRequest& request = *flat.cluster.workloads[i].pod_sets[0].topology_request;
    EXPECT_EQ(request.required, "block");
    EXPECT_FALSE(request.preferred);
    EXPECT_THAT(flat.gang_workloads[i].notes,
                Contains("topologyRequest of eqGroup main: preferred rack is not honoured beside "
                         "required block"));
  }
  EXPECT_THAT(flat.gang_workloads[0].notes, Contains("eqGroup main: node name is not looked at"));
  EXPECT_THAT(flat.gang_workloads[1].notes,
              Contains("eqGroup main: volume claim templates are not looked at"));
  const auto nested = ReadClusterText("f", kJobs, {.trees = Trees::kNested});
  ASSERT_TRUE(nested) << nested.error().message;
  const auto& units = nested->cluster.workloads;
  EXPECT_EQ(std::ranges::count_if(units, [](const Workload& unit) { return unit.tree != nullptr; }),
            2);
}

// JobSet's webhook and schema refuse the same.
TEST(JobSets, StartInAnOrderThatThereIs) {
  const auto error = [](const std::string& spec, const std::string& of_b) {
    const std::string pods =
        R"("template": {"spec": {"template": {"spec": {"containers": [{}]}}}})";
    return ErrorOf(R"({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
        "metadata": {"name": "s"}, "spec": {)" +
                   spec + R"("replicatedJobs": [
          {"name": "a", )" +
                   pods + R"(}, {"name": "b", )" + of_b + pods + "}]}}");
  };
  EXPECT_EQ(error("", R"("dependsOn": [{"name": "a", "status": "Complete"}], )"), "");
  EXPECT_THAT(error("", R"("dependsOn": [{"name": "b", "status": "Complete"}], )"),
              HasSubstr("spec.replicatedJobs[1].dependsOn[0].name: no replicated job before it"));
  EXPECT_THAT(error("", R"("dependsOn": [{"name": "a", "status": "Done"}], )"),
              HasSubstr("there is no such status, got \"Done\"; want Ready or Complete"));
  EXPECT_THAT(error(R"("startupPolicy": {"startupPolicyOrder": "Sorted"}, )", ""),
              HasSubstr("there is no such startupPolicyOrder"));
}

TEST(Jobs, HaveACompletionModeThatThereIs) {
  const auto job = [](const std::string& mode) {
    return R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {"name": "j"}, "spec":
        {"completionMode": ")" +
           mode + R"(", "template": {"spec": {"containers": [{}]}}}})";
  };
  EXPECT_EQ(ErrorOf(job("Indexed")), "");
  EXPECT_THAT(ErrorOf(job("Ordered")),
              HasSubstr("spec.completionMode: there is no such completionMode, got \"Ordered\"; "
                        "want NonIndexed or Indexed"));
  const ClusterRead read = Read(job("indexed"));
  EXPECT_EQ(read.gang_workloads.at(0).gang_groups.at(0).mode, GangMode::kGang);
  EXPECT_THAT(read.diagnostics.RenderWarnings(), HasSubstr("completionMode"));
}

// Volcano's webhook fills in what the tasks need, which is all of their pods where they do not say
// it.
TEST(VolcanoJobs, NeedWhatTheirTasksNeedWhereTheyDoNotSayIt) {
  const auto needed = [](const std::string& spec, const std::string& task) {
    const ClusterRead read = Read(
        R"({"apiVersion": "batch.volcano.sh/v1alpha1", "kind": "Job", "metadata": {"name": "j"},
            "spec": {)" +
        spec + R"("tasks": [{"name": "a", )" + task + R"("replicas": 3,
            "template": {"spec": {"containers": [{}]}}}]}})");
    return read.gang_workloads.at(0).gang_groups.at(0).min_count;
  };
  EXPECT_EQ(needed("", ""), 3);
  EXPECT_EQ(needed(R"("minAvailable": 0, )", ""), 3);
  EXPECT_EQ(needed(R"("minAvailable": 0, )", R"("minAvailable": 2, )"), 2);
  EXPECT_EQ(needed(R"("minAvailable": 1, )", R"("minAvailable": 2, )"), 1);
}

// Pods whose shape nothing tells are not placed as if they asked for nothing.
TEST(GangApiWorkloads, WaitForTheShapeOfEachOfTheirGroups) {
  EXPECT_THAT(UnitTexts(Read(R"({"apiVersion": "scheduling/v1alpha1", "kind": "Workload",
      "metadata": {"name": "w"}, "spec": {"gangGroups": [{"eqGroups": [
        {"name": "a", "count": 1, "template": {"resources": {"requests": {"cpu": 1}}}},
        {"name": "b", "count": 2}]}]}})")),
              ElementsAre(HasSubstr("the shape of the pods of eqGroup b is not known")));
}

constexpr const char* kInOrder = R"(
{"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
 "metadata": {"name": "s", "namespace": "team"}, "spec": {"replicatedJobs": [
   {"name": "driver", "template": {"spec": {"template": {"spec": {"containers": [{}]}}}}},
   {"name": "workers", "replicas": 2, "dependsOn": [{"name": "driver", "status": "Ready"}],
    "template": {"spec": {"parallelism": 3, "completions": 2,
                          "template": {"spec": {"containers": [{}]}}}}}]}}
)";

// In profile kueue order changes nothing; the gang document's reading is that of the others.
TEST(JobSets, AreOneWorkloadWhateverTheirOrder_R30_1) {
  const ClusterRead read = Read(kInOrder);
  EXPECT_THAT(UnitTexts(read), ElementsAre("s: driver x 1 workers x 4"));  // R30.2
  const std::vector<PodSet>& pod_sets = read.cluster.workloads[0].pod_sets;
  EXPECT_EQ(pod_sets[1].topology_request->sub_group_count, 2);
  EXPECT_EQ(pod_sets[1].topology_request->sub_group_index_label, "jobset.sigs.k8s.io/job-index");
  const auto as_gangs = ReadClusterText("f", kInOrder, {.trees = Trees::kNested});
  ASSERT_TRUE(as_gangs) << as_gangs.error().message;
  EXPECT_THAT(UnitTexts(*as_gangs),
              ElementsAre("s-driver-0: driver x 1", "s-workers-0: workers x 2",
                          "s-workers-1: workers x 2"));
}

std::string TrainJob(const std::string& spec) {
  return R"({"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "TrainJob",
      "metadata": {"name": "t", "namespace": "team"}, "spec": {"runtimeRef": {"name": "r"}, )" +
         spec + R"(}}
{"apiVersion": "trainer.kubeflow.org/v1alpha1", "kind": "ClusterTrainingRuntime",
 "metadata": {"name": "r"}, "spec": {"mlPolicy": {"numNodes": 1}, "template": {"spec": {
   "replicatedJobs": [
     {"name": "dataset-initializer", "template": {"spec": {"template": {"spec": {"containers": [
       {"name": "c", "resources": {"requests": {"cpu": "1"}}}]}}}}},
     {"name": "node", "template": {
       "metadata": {"labels": {"trainer.kubeflow.org/trainjob-ancestor-step": "trainer"}},
       "spec": {"template": {"spec": {"nodeSelector": {"a": "b"}, "containers": [
         {"name": "node", "resources": {"requests": {"cpu": "4", "memory": "8"}}},
         {"name": "side", "resources": {"requests": {"cpu": "1"}}}]}}}}}]}}}}
)";
}

TEST(TrainJobs, AreOneWorkloadWithTheirInitializers_R30_1) {
  const std::string job = TrainJob(R"("trainer": {"numNodes": 3})");
  EXPECT_THAT(UnitTexts(Read(job)), ElementsAre("t: dataset-initializer x 1 node x 3"));
  const auto as_gangs = ReadClusterText("f", job, {.trees = Trees::kNested});
  ASSERT_TRUE(as_gangs) << as_gangs.error().message;
  ASSERT_THAT(as_gangs->gang_workloads, SizeIs(1));
  EXPECT_THAT(as_gangs->gang_workloads[0].gang_groups, SizeIs(2));
}

// Resources per node are those of the container that trains, what it does not name stays.
TEST(TrainJobs, ChangeTheTemplatesOfTheirRuntime) {
  const auto node = [](const std::string& spec) {
    const ClusterRead read = Read(TrainJob(spec));
    EXPECT_THAT(read.cluster.workloads, SizeIs(1));
    EXPECT_THAT(read.diagnostics.warnings(), IsEmpty());
    return read.cluster.workloads.at(0).pod_sets.at(1).pod_template;
  };
  const PodTemplate sized = node(R"("trainer": {"resourcesPerNode": {"requests": {"cpu": "6"}}})");
  EXPECT_EQ(sized.requests, (Resources{{"cpu", 7000}, {"memory", 8}}));
  const StringMap both = {{"a", "b"}, {"c", "d"}};
  EXPECT_EQ(node(R"("podTemplateOverrides": [{"targetJobs": [{"name": "node"}, {"name": "gone"}],
                     "spec": {"nodeSelector": {"c": "d"}}}])")
                .node_selector,
            both);
  EXPECT_EQ(node(R"("podSpecOverrides": [{"targetJobs": [{"name": "node"}],
                     "nodeSelector": {"c": "d"}}])")
                .node_selector,
            both);
  EXPECT_EQ(node(R"("runtimePatches": [{"manager": "m", "trainingRuntimeSpec": {"template": {
                     "spec": {"replicatedJobs": [{"name": "node", "template": {"spec": {"template":
                       {"spec": {"nodeSelector": {"c": "d"}}}}}}]}}}}])")
                .node_selector,
            both);
}

// W1.8: nothing that is handed in is passed over in silence.
TEST(Sources, ThatAskForNoPodsAreListed) {
  const auto read = ReadClusterText("f", R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: ordered, namespace: team}
spec: {startupPolicy: {startupPolicyOrder: InOrder}, replicatedJobs: []}
---
apiVersion: apps/v1
kind: Deployment
metadata: {name: scaled-down, namespace: team}
spec: {replicas: 0, template: {spec: {containers: [{name: c}]}}}
---
apiVersion: scheduling.k8s.io/v1alpha1
kind: Workload
metadata: {name: w, namespace: team}
spec: {podGroups: [{name: basic, policy: {basic: {}}}]}
)");
  ASSERT_TRUE(read) << read.error().message;
  EXPECT_THAT(UnitTexts(*read),
              testing::UnorderedElementsAre("ordered:", "scaled-down:", "w-basic:"));
}

TEST(Sources, AreReadOnce) {
  const std::string job_set = R"({"apiVersion": "jobset.x-k8s.io/v1alpha2", "kind": "JobSet",
      "metadata": {"name": "s", "namespace": "team", "uid": "u"}, "spec": {"replicatedJobs": [
        {"name": "a", "template": {"spec": {"template": {"spec": {"containers": [{}]}}}}}]}})";
  const std::string child = R"({"apiVersion": "batch/v1", "kind": "Job", "metadata": {
      "name": "s-a-0", "namespace": "team", "ownerReferences":
        [{"kind": "JobSet", "name": "s", "controller": true}]},
      "spec": {"template": {"spec": {"containers": [{}]}}}})";
  EXPECT_THAT(UnitTexts(Read(job_set + child)), ElementsAre("s: a x 1"));
  const std::string workload = R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
      "metadata": {"name": "jobset-s", "namespace": "team", "ownerReferences":
        [{"kind": "JobSet", "name": "s", "uid": "u", "controller": true}]},
      "spec": {"podSets": [{"name": "a"}]}})";
  EXPECT_THAT(UnitTexts(Read(job_set + workload)), ElementsAre("jobset-s: a x 1"));
}

TEST(Sources, WhatRunsOrHasEndedIsNotPlaced) {
  const std::string set = R"({"apiVersion": "apps/v1", "kind": "StatefulSet",
      "metadata": {"name": "s"}, "spec": {"template": {"spec": {"containers": [{}]}}},
      "status": {"readyReplicas": 1}})";
  const std::string job = R"({"apiVersion": "kubeflow.org/v1", "kind": "JAXJob",
      "metadata": {"name": "j"}, "spec": {"jaxReplicaSpecs": {"Worker": {"template": {"spec":
        {"containers": [{}]}}}}},
      "status": {"conditions": [{"type": "Succeeded", "status": "True"}]}})";
  const ClusterRead read = Read(set + job);
  EXPECT_THAT(read.gang_workloads, SizeIs(2));
  EXPECT_THAT(read.cluster.workloads, IsEmpty());
}

TEST(Sources, AnUnknownVersionIsNamedWithThoseThatAreKnown) {
  const ClusterRead read = Read(R"({"apiVersion": "jobset.x-k8s.io/v9", "kind": "JobSet",
      "metadata": {"name": "s"}, "spec": {"replicatedJobs": []}})");
  EXPECT_THAT(read.diagnostics.RenderWarnings(),
              HasSubstr("this version of a JobSet is unknown, got \"jobset.x-k8s.io/v9\"; want "
                        "jobset.x-k8s.io/v1alpha2, jobset.x-k8s.io/v1"));
}

constexpr const char* kScaledDeployment = R"(
apiVersion: apps/v1
kind: Deployment
metadata: {name: d, namespace: team}
spec: {replicas: 2, template: {spec: {containers: [{name: c}]}}}
---
)";

TEST(Autoscaler, WhatIsWrongWithItIsSaidOfIt) {
  EXPECT_THAT(ErrorOf(std::string(kScaledDeployment) + R"(
apiVersion: autoscaling/v2
kind: HorizontalPodAutoscaler
metadata: {name: h, namespace: team}
spec: {minReplicas: two, scaleTargetRef: {kind: Deployment, name: d}}
)"),
              HasSubstr("f, object 2: HorizontalPodAutoscaler team/h: spec.minReplicas: "));
}

}  // namespace
}  // namespace espalier::gang_sources_test
