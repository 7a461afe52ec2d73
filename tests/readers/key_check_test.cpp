// Keys that are there twice or look misspelled.
#include <filesystem>
#include <fstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <unistd.h>

#include "host/readers/cluster_files.hpp"

namespace espalier::key_check_test {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;

std::string Warnings(const std::string& text) {
  const auto read = ReadClusterText("f", text);
  return read ? read->diagnostics.RenderWarnings() : "error: " + read.error().message;
}

std::string StrictErrorOf(const std::string& text) {
  const auto read = ReadClusterText("f", text, {.strict = true});
  return read ? "no error" : read.error().message;
}

TEST(RepeatedKeys, AreErrorsInJsonAndYaml) {
  constexpr const char* kError =
      "f: Node a: metadata.name: the key name is there twice, got \"b\"; want each key once";
  EXPECT_EQ(StrictErrorOf(R"({"kind": "Node", "metadata": {"name": "a", "name": "b"}})"), kError);
  EXPECT_EQ(StrictErrorOf("kind: Node\nmetadata:\n  name: a\n  name: b\n"), kError);
  std::string labels = "kind: Node\nmetadata:\n  name: a\n  labels: {l5: x";
  for (int i = 0; i < 100; ++i) labels += fmt::format(", l{}: x", i);
  EXPECT_THAT(StrictErrorOf(labels + "}\n"),
              HasSubstr("metadata.labels.l5: the key l5 is there twice"));
}

TEST(Typos, AreWarningsWithTheNearestName) {
  EXPECT_EQ(
      Warnings(R"(
apiVersion: batch/v1
kind: Job
metadata: {name: j, namespace: team, labels: {kueue.x-k8s.io/queue-nme: q}}
spec:
  paralelism: 3
  template:
    metadata: {annotations: {kueue.x-k8s.io/podset-require-topology: rack}}
    spec: {containers: [{name: c, resource: {requests: {cpu: 1}}}]}
)"),
      "f: Job team/j: metadata.labels[kueue.x-k8s.io/queue-nme]: the key "
      "kueue.x-k8s.io/queue-nme is unknown, got \"q\"; want kueue.x-k8s.io/queue-name, if that "
      "is meant\n"
      "f: Job team/j: spec.paralelism: the key paralelism is unknown, got 3; want parallelism, if "
      "that is meant\n"
      "f: Job team/j: spec.template.metadata.annotations[kueue.x-k8s.io/podset-require-topology]: "
      "the key kueue.x-k8s.io/podset-require-topology is unknown, got \"rack\"; want "
      "kueue.x-k8s.io/podset-required-topology, if that is meant\n"
      "f: Job team/j: spec.template.spec.containers[0].resource: the key resource is unknown; "
      "want resources, if that is meant");
  EXPECT_EQ(
      Warnings("kind: ResourceFlavor\nmetadata: {name: f}\nspec: {topologyname: t}\n"),
      "f: ResourceFlavor f: spec.topologyname: the key topologyname is unknown, got \"t\"; want "
      "topologyName, if that is meant");
}

// One misspelled key each, which is the last word of the path.
TEST(Typos, AreFoundWhereverDecisionsDependOnFields) {
  const auto in = [](const std::string& kind, const std::string& fields) {
    return "kind: " + kind + "\nmetadata: {name: o, namespace: team}\n" + fields + "\n";
  };
  for (
      const auto& [object, path] : std::vector<std::pair<std::string, std::string>>{
          {in("Node", "status: {conditions: [{type: Ready, statuss: 'True'}]}"),
           "Node team/o: status.conditions[0].statuss"},
          {in("Node", "spec: {taints: [{key: a, efect: NoSchedule}]}"),
           "Node team/o: spec.taints[0].efect"},
          {in("Pod", "status: {phse: Succeeded}"), "Pod team/o: status.phse"},
          {in("Pod", "spec: {schedulingGates: [{nam: g}], containers: []}"),
           "Pod team/o: spec.schedulingGates[0].nam"},
          {in("Topology", "spec: {levels: [{nodeLable: rack}]}"),
           "Topology team/o: spec.levels[0].nodeLable"},
          {in("ResourceFlavor", "spec: {tolerations: [{key: a, operater: Exists}]}"),
           "ResourceFlavor team/o: spec.tolerations[0].operater"},
          {in("ClusterQueue", "spec: {namespaceSelector: {matchLabel: {a: b}}}"),
           "ClusterQueue team/o: spec.namespaceSelector.matchLabel"},
          {in("ClusterQueue",
              "spec: {namespaceSelector: {matchExpressions: [{key: a, operator: In, value: []}]}}"),
           "ClusterQueue team/o: spec.namespaceSelector.matchExpressions[0].value"},
          {in("ClusterQueue", "spec: {flavorFungibility: {whenCanBorow: TryNextFlavor}}"),
           "ClusterQueue team/o: spec.flavorFungibility.whenCanBorow"},
          {in("ClusterQueue", "spec: {preemption: {borrowWithinCohort: {polici: Never}}}"),
           "ClusterQueue team/o: spec.preemption.borrowWithinCohort.polici"},
          {in("ClusterQueue", "spec: {fairSharing: {wieght: 1}}"),
           "ClusterQueue team/o: spec.fairSharing.wieght"},
          {in("LocalQueue", "spec: {clusterQueue: c, fairSharing: {weigth: 1}}"),
           "LocalQueue team/o: spec.fairSharing.weigth"},
          {in("Workload", "spec: {podSets: [], priorityClassRef: {kin: PriorityClass}}"),
           "Workload team/o: spec.priorityClassRef.kin"},
          {in("Workload", "status: {unhealthyNode: [{name: n}]}"),
           "Workload team/o: status.unhealthyNode"},
          {in("Workload", "status: {admission: {clusterqueue: c}}"),
           "Workload team/o: status.admission.clusterqueue"},
          {in("Workload",
              "status: {admission: {clusterQueue: c, podSetAssignments: [{name: main, cont: 1}]}}"),
           "Workload team/o: status.admission.podSetAssignments[0].cont"},
          {in("Workload", "status: {requeueState: {requeueAT: x}}"),
           "Workload team/o: status.requeueState.requeueAT"},
          {in("Workload", "status: {admissionChecks: [{name: c, sate: Ready}]}"),
           "Workload team/o: status.admissionChecks[0].sate"},
          {in("Job", "status: {actve: 1}\nspec: {template: {}}"), "Job team/o: status.actve"},
      }) {
    EXPECT_THAT(Warnings(object), HasSubstr(path + ": the key ")) << object;
  }
  EXPECT_THAT(Warnings("kind: Job\nmetadata: {name: o, labels: {kueu.x-k8s.io/queue-name: q}}\n"),
              HasSubstr("metadata.labels[kueu.x-k8s.io/queue-name]: the key "));
  EXPECT_THAT(
      Warnings(
          "kind: Workload\nmetadata: {name: o, ownerReferences: [{kind: Job, name: j, uuid: u}]}"
          "\nspec: {podSets: []}\n"),
      HasSubstr("metadata.ownerReferences[0].uuid: the key "));
}

TEST(Typos, AreErrorsWhenStrict) {
  EXPECT_THAT(StrictErrorOf("kind: ResourceFlavor\nmetadata: {name: f}\nspec: {nodelabels: {}}\n"),
              HasSubstr("the key nodelabels is unknown; want nodeLabels"));
}

TEST(Typos, LeaveOtherKeysAlone) {
  EXPECT_EQ(Warnings(R"(
kind: Job
metadata:
  name: j
  labels: {kueue.x-k8s.io/queue-name: q, queue: q, app.kubernetes.io/name: app}
spec: {parallelism: 1, somethingNew: 1, template: {spec: {containers: [{name: c, imagePullPolicy: Always}]}}}
)"),
            "");
}

TEST(Versions, ThatAreUnknownAreWarnings) {
  EXPECT_EQ(Warnings("apiVersion: kueue.x-k8s.io/v1beta7\nkind: LocalQueue\n"
                     "metadata: {name: q, namespace: team}\nspec: {clusterQueue: c}\n"),
            "f: LocalQueue team/q: apiVersion: this version of a LocalQueue is unknown, got "
            "\"kueue.x-k8s.io/v1beta7\"; want kueue.x-k8s.io/v1beta1, kueue.x-k8s.io/v1beta2");
}

TEST(Versions, ATopologyOfV1Alpha1Reads) {
  const auto read =
      ReadClusterText("f",
                      "apiVersion: kueue.x-k8s.io/v1alpha1\nkind: Topology\nmetadata: {name: t}\n"
                      "spec: {levels: [{nodeLabel: example.com/rack}]}\n",
                      {.strict = true});
  ASSERT_TRUE(read.has_value());
  EXPECT_THAT(read->cluster.topologies.at(0).levels, ElementsAre("example.com/rack"));
}

TEST(Kinds, ThatLookMisspelledAreWarnings) {
  EXPECT_EQ(Warnings("kind: ResourceFlavour\nmetadata: {name: f}\n"),
            "f: ResourceFlavour f: kind: the kind is unknown, and the object is skipped, got "
            "\"ResourceFlavour\"; want ResourceFlavor, if that is meant");
  EXPECT_THAT(
      Warnings("apiVersion: kueue.x-k8.io/v1beta1\nkind: ResourceFlavor\nmetadata: {name: f}\n"),
      HasSubstr("there is no ResourceFlavor of this group, and the object is skipped"));
  EXPECT_EQ(Warnings("apiVersion: scheduling.k8s.io/v1alpha1\nkind: Workload\nmetadata: {name: f}\n"
                     "---\nkind: Service\nmetadata: {name: f}\n---\nkind: NodePool\n"),
            "");
}

TEST(Objects, OfOneFileAreNumberedOverItsDocuments) {
  const auto read = ReadClusterText(
      "f",
      "kind: Node\nmetadata: {name: a}\n---\nkind: Node\nmetadata: {name: b}\n---\nkind: Pod\n"
      "metadata: {}\n---\nmetadata: {name: c}\n---\nkind: Node\nmetadata: {name: a}\n"
      "spec: {unschedulable: true}\n");
  ASSERT_FALSE(read.has_value());
  EXPECT_THAT(read.error().message,
              AllOf(HasSubstr("f, object 3: Pod (no name): metadata.name: it is missing"),
                    HasSubstr("f, object 4: Object c: kind: it is missing"),
                    HasSubstr("f, object 5: Node a: it is in the input twice: f, object 1 and f, "
                              "object 5")));
}

TEST(Warnings, ThatAreFrequentHideNoOther) {
  std::string text;
  for (int i = 0; i < 200; ++i) {
    text += fmt::format(
        "kind: Node\nmetadata: {{name: n{}, labels: {{kubernetes.io/hostname: h}}}}\n---\n", i);
  }
  text +=
      "kind: Job\nmetadata: {name: j, labels: {kueue.x-k8s.io/queue-name: q}}\n"
      "spec: {paralelism: 3, template: {}}\n";
  const auto read = ReadClusterText("f", text);
  ASSERT_TRUE(read.has_value());
  EXPECT_EQ(read->diagnostics.warning_count(), 201u);
  const std::string distinct = read->diagnostics.RenderDistinctWarnings();
  EXPECT_THAT(distinct, AllOf(HasSubstr("Node n0: "), Not(HasSubstr("Node n1: ")),
                              HasSubstr("the key paralelism is unknown"),
                              testing::EndsWith("\nand 199 more warnings; --verbose shows all")));
}

TEST(Folders, SkipFilesWithoutKubernetesObjectsByName) {
  namespace fs = std::filesystem;
  const fs::path folder =
      fs::path(testing::TempDir()) / fmt::format("espalier-keys-{}", ::getpid());
  fs::create_directories(folder);
  std::ofstream(folder / "kustomization.yaml") << "resources:\n- a.yaml\n";
  std::ofstream(folder / "a.yaml") << "kind: Node\nmetadata: {name: a}\n";
  const auto read = ReadClusterFiles({folder.string()});
  const auto named = ReadClusterFiles({(folder / "kustomization.yaml").string()});
  std::ofstream(folder / "b.yaml") << "kind: Node\nmetadata: {name: b}\n---\nmetadata: {name: c}\n";
  const auto mixed = ReadClusterFiles({folder.string()});
  fs::remove_all(folder);
  ASSERT_TRUE(read.has_value()) << read.error().message;
  EXPECT_THAT(read->facts.skipped_files, ElementsAre((folder / "kustomization.yaml").string()));
  EXPECT_EQ(SkippedFilesLine(read->facts), "skipped, as they hold no Kubernetes object: " +
                                               (folder / "kustomization.yaml").string());
  EXPECT_FALSE(named.has_value());
  EXPECT_FALSE(mixed.has_value());
}

// Kinds whose fields are not known are checked too, and a template once.
TEST(RepeatedKeys, AreErrorsInEveryKindThatIsRead) {
  EXPECT_EQ(
      StrictErrorOf(R"(
apiVersion: jobset.x-k8s.io/v1alpha2
kind: JobSet
metadata: {name: js}
spec:
  replicatedJobs:
  - name: w
    replicas: 1
    replicas: 5
    template: {spec: {template: {spec: {
      containers: [{name: c, name: c, resources: {requests: {cpu: 1}}}]}}}}
)"),
      "f: JobSet js: spec.replicatedJobs[0].replicas: the key replicas is there twice, got 5; "
      "want each key once\n"
      "f: JobSet js: spec.replicatedJobs[0].template.spec.template.spec.containers[0].name: "
      "the key name is there twice, got \"c\"; want each key once");
}

}  // namespace
}  // namespace espalier::key_check_test
