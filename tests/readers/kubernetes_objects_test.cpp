// One parsed object to one model value.
#include "host/readers/kubernetes_objects.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/readers/json_text.hpp"

namespace espalier::kubernetes_objects_test {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

TEST(ReadNode, TakesWhatDecisionsNeed) {  // R3.4
  JsonText json(R"({"metadata": {"name": "n1", "labels": {"zone": "a", "rack": "r1"}},
      "spec": {"unschedulable": true, "taints": [
        {"key": "gpu", "value": "yes", "effect": "NoSchedule"}, {"key": "spot", "effect": "NoExecute"}]},
      "status": {"allocatable": {"cpu": "63770m", "memory": "253208Mi", "pods": 110},
                 "conditions": [{"type": "DiskPressure", "status": "False"},
                                {"type": "Ready", "status": "True"}]}})");
  const Node expected{
      .name = "n1",
      .labels = {{"rack", "r1"}, {"zone", "a"}},
      .taints = {{"gpu", "yes", "NoSchedule"}, {"spot", "", "NoExecute"}},
      .unschedulable = true,
      .ready = true,
      .allocatable = {{"cpu", 63770}, {"memory", Amount{253208} << 20}, {"pods", 110}}};
  EXPECT_EQ(ReadNode(json.root(), json.context()), expected);
  EXPECT_THAT(json.Errors(), IsEmpty());
}

TEST(ReadNode, TheFirstReadyConditionDecides) {  // R3.1
  JsonText json(R"({"metadata": {"name": "n"}, "status": {"conditions": [
      {"type": "Ready", "status": "Unknown"}, {"type": "Ready", "status": "True"}]}})");
  EXPECT_FALSE(ReadNode(json.root(), json.context()).ready);
}

TEST(ReadNode, MayBeCutToItsName) {
  JsonText json(R"({"metadata": {"name": "n"}})");
  EXPECT_EQ(ReadNode(json.root(), json.context()), Node{.name = "n"});
  EXPECT_THAT(json.Errors(), IsEmpty());
}

TEST(ReadNode, HasAtMostAsManyLabelsAsAClusterCanStore) {
  std::string labels = R"("0": "")";
  for (int i = 1; i < 250'000; ++i) labels += ",\"" + std::to_string(i) + R"(": "")";
  const auto node = [&](const std::string& more) {
    return R"({"metadata": {"name": "n", "labels": {)" + labels + more + "}}}";
  };
  JsonText most(node(""));
  EXPECT_EQ(ReadNode(most.root(), most.context()).labels.size(), 250'000u);
  EXPECT_THAT(most.Errors(), IsEmpty());
  JsonText more(node(R"(, "250000": "")"));
  EXPECT_TRUE(ReadNode(more.root(), more.context()).labels.empty());
  EXPECT_THAT(more.Errors(), ElementsAre("metadata.labels: it has more than 250000 entries"));
}

TEST(ReadNode, EveryErrorIsReportedWithItsField) {
  JsonText json(R"({"metadata": {"labels": {"a": true, "b": "x"}}, "spec": {"taints": [1, {}]},
                    "status": {"allocatable": {"cpu": "x"}, "conditions": {}}})");
  ReadNode(json.root(), json.context());
  EXPECT_THAT(
      json.Errors(),
      ElementsAre("metadata.name: it is missing", "metadata.labels.a: it is not a string",
                  "spec.taints[0]: it is not an object", "spec.taints[1].key: it is missing",
                  "status.conditions: it is not a list",
                  "status.allocatable.cpu: it is not a quantity: it does not start with a "
                  "number"));
}

TEST(ReadNode, AnErrorNamesFileObjectFieldValueAndRemedy) {
  JsonText json(R"({"kind": "Node", "metadata": {"name": "n"},
                    "status": {"allocatable": {"cpu": "4x"}}})");
  ReadNode(json.root(), json.context());
  EXPECT_EQ(json.diagnostics.RenderErrors(),
            "file.json: Node n: status.allocatable.cpu: it is not a quantity: the suffix is not "
            "one that Kubernetes knows, got \"4x\"; want a number with an optional suffix, such "
            "as 2, 500m or 16Gi");
}

TEST(ReadNode, ManyLabelsInAnyOrder) {
  std::string labels;
  for (int i = 200000; i > 0; --i) labels += fmt::format("\"l{}\": \"v\",", i);
  JsonText json(R"({"metadata": {"name": "n", "labels": {)" + labels + R"("l1": "last"}}})");
  const Node node = ReadNode(json.root(), json.context());
  EXPECT_EQ(node.labels.size(), 200000u);
  EXPECT_EQ(*node.labels.Find("l1"), "last");
}

TEST(ReadNodeAffinity, RequiredAndPreferred) {  // R7.5, R7.8
  JsonText json(R"({"nodeAffinity": {
      "requiredDuringSchedulingIgnoredDuringExecution": {"nodeSelectorTerms": [
        {"matchExpressions": [{"key": "gen", "operator": "Gt", "values": ["6"]}]},
        {"matchFields": [{"key": "metadata.name", "operator": "In", "values": ["n1"]}]}, {}]},
      "preferredDuringSchedulingIgnoredDuringExecution": [
        {"weight": 10, "preference": {"matchExpressions": [{"key": "x", "operator": "Exists"}]}}]}})");
  const NodeAffinity affinity = ReadNodeAffinity(json.root(), json.context());
  EXPECT_EQ(*affinity.required,
            (std::vector<NodeSelectorTerm>{
                {{{"gen", "Gt", {"6"}}}, {}}, {{}, {{"metadata.name", "In", {"n1"}}}}, {}}));
  EXPECT_EQ(affinity.preferred,
            (std::vector<PreferredSchedulingTerm>{{10, {{{"x", "Exists", {}}}, {}}}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
}

TEST(ReadNodeAffinity, AnUnknownOperatorIsAnError) {
  JsonText json(R"({"nodeAffinity": {"requiredDuringSchedulingIgnoredDuringExecution":
      {"nodeSelectorTerms": [{"matchExpressions": [{"key": "a", "operator": "Near"}]}]}}})");
  ReadNodeAffinity(json.root(), json.context());
  EXPECT_THAT(json.Errors(),
              ElementsAre("nodeAffinity.requiredDuringSchedulingIgnoredDuringExecution."
                          "nodeSelectorTerms[0].matchExpressions[0].operator: this operator does "
                          "not exist"));
}

TEST(ReadPod, KeepsKueueAnnotationsAndTheController) {
  JsonText json(R"({"metadata": {"namespace": "team", "name": "p", "uid": "u", "labels": {"a": "b"},
      "annotations": {"kubectl.kubernetes.io/last-applied-configuration": "{}",
                      "kueue.x-k8s.io/podset-required-topology": "rack"},
      "ownerReferences": [{"kind": "X", "name": "x"},
                          {"kind": "Job", "name": "j", "uid": "ju", "controller": true}]},
      "spec": {"nodeName": "n1", "nodeSelector": {"z": "a"},
               "schedulingGates": [{"name": "kueue.x-k8s.io/topology"}],
               "containers": [{"resources": {"requests": {"cpu": "1"}}}]},
      "status": {"phase": "Running"}})");
  const Pod expected{.key = {"team", "p"},
                     .uid = "u",
                     .labels = {{"a", "b"}},
                     .annotations = {{"kueue.x-k8s.io/podset-required-topology", "rack"}},
                     .owners = {{.kind = "Job", .name = "j", .uid = "ju", .controller = true}},
                     .node_name = "n1",
                     .phase = "Running",
                     .node_selector = {{"z", "a"}},
                     .scheduling_gates = {"kueue.x-k8s.io/topology"},
                     .requests = {{"cpu", 1000}}};
  EXPECT_EQ(ReadPod(json.root(), json.context()), expected);
}

TEST(ReadTopology, LevelsInOrder) {
  JsonText json(R"({"metadata": {"name": "t"}, "spec": {"levels": [
      {"nodeLabel": "block"}, {"nodeLabel": "kubernetes.io/hostname"}]}})");
  EXPECT_EQ(ReadTopology(json.root(), json.context()),
            (Topology{"t", {"block", "kubernetes.io/hostname"}}));
  EXPECT_THAT(json.Errors(), IsEmpty());
}

TEST(ReadTopology, RefusesImpossibleLevels) {  // R23.15
  JsonText json(R"({"metadata": {"name": "t"}, "spec": {"levels": [
      {"nodeLabel": "kubernetes.io/hostname"}, {"nodeLabel": "b"}, {"nodeLabel": "b"}, {}]}})");
  ReadTopology(json.root(), json.context());
  EXPECT_THAT(json.Errors(),
              ElementsAre("spec.levels[3].nodeLabel: it is missing",
                          "spec.levels: kubernetes.io/hostname is not the lowest level",
                          "spec.levels: the level b is listed twice"));
  JsonText empty(R"({"metadata": {"name": "t"}, "spec": {"levels": []}})");
  ReadTopology(empty.root(), empty.context());
  EXPECT_THAT(empty.Errors(), ElementsAre("spec.levels: the number of levels is wrong"));
}

TEST(ReadResourceFlavor, AllFields) {
  JsonText json(R"({"metadata": {"name": "f"}, "spec": {"nodeLabels": {"pool": "gpu"},
      "nodeTaints": [{"key": "a", "effect": "NoSchedule"}],
      "tolerations": [{"key": "b", "operator": "Exists"}], "topologyName": "t"}})");
  EXPECT_EQ(ReadResourceFlavor(json.root(), json.context()),
            (ResourceFlavor{.name = "f",
                            .node_labels = {{"pool", "gpu"}},
                            .node_taints = {{"a", "", "NoSchedule"}},
                            .tolerations = {{"b", "Exists", "", ""}},
                            .topology_name = "t"}));
}

TEST(ReadClusterQueue, QuotasAreCanonical) {
  JsonText json(R"({"metadata": {"name": "q"}, "spec": {"cohortName": "c",
      "queueingStrategy": "StrictFIFO", "stopPolicy": "Hold",
      "admissionChecksStrategy": {"admissionChecks": [{"name": "check"}]},
      "resourceGroups": [{"coveredResources": ["cpu", "memory"], "flavors": [{"name": "f",
        "resources": [{"name": "cpu", "nominalQuota": "1500m", "borrowingLimit": 2},
                      {"name": "memory", "nominalQuota": "1Ki"}]}]}]}})");
  const ClusterQueue expected{
      .name = "q",
      .cohort = "c",
      .queueing_strategy = "StrictFIFO",
      .stop_policy = "Hold",
      .resource_groups = {{{"cpu", "memory"},
                           {{"f", {{"cpu", 1500, 2000}, {"memory", 1024, std::nullopt}}}}}},
      .admission_checks = {"check"}};
  EXPECT_EQ(ReadClusterQueue(json.root(), json.context()), expected);
}

ClusterQueue ReadQueueWithSpec(const std::string& spec) {
  JsonText json(R"({"metadata": {"name": "q"}, "spec": )" + spec + "}");
  ClusterQueue queue = ReadClusterQueue(json.root(), json.context());
  EXPECT_EQ(json.diagnostics.error_count(), 0U);
  return queue;
}

TEST(ReadClusterQueue, SelectsNamespaces) {  // R21.14
  EXPECT_EQ(ReadQueueWithSpec("{}").namespace_selector, std::nullopt);
  EXPECT_EQ(ReadQueueWithSpec(R"({"namespaceSelector": null})").namespace_selector, std::nullopt);
  EXPECT_EQ(ReadQueueWithSpec(R"({"namespaceSelector": {}})").namespace_selector, LabelSelector{});
  EXPECT_EQ(ReadQueueWithSpec(R"({"namespaceSelector": {"matchLabels": {"a": "b"},
      "matchExpressions": [{"key": "c", "operator": "In", "values": ["d"]}]}})")
                .namespace_selector,
            (LabelSelector{{{"a", "b"}}, {{"c", "In", {"d"}}}}));
  JsonText json(R"({"metadata": {"name": "q"}, "spec": {"namespaceSelector":
      {"matchExpressions": [{"key": "c", "operator": "Gt", "values": ["1"]}]}}})");
  ReadClusterQueue(json.root(), json.context());
  EXPECT_EQ(json.diagnostics.error_count(), 1U);
}

TEST(ReadClusterQueue, KeepsTheNamesOfFieldsThatNothingLooksAt) {
  EXPECT_EQ(ReadQueueWithSpec(R"({"fairSharing": {"weight": "1"}, "stopPolicy": "None",
      "flavorFungibility": {"whenCanPreempt": "TryNextFlavor"}})")
                .unknown_fields,
            (std::vector<std::string>{"spec.fairSharing"}));
  EXPECT_EQ(ReadQueueWithSpec(R"({"flavorFungibility": {"whenCanPreempt": "MayStopSearch"}})")
                .unknown_fields,
            (std::vector<std::string>{"spec.flavorFungibility.whenCanPreempt: MayStopSearch"}));
}

TEST(ReadAdmissionCheck, SaysWhetherItIsActive) {
  const auto active = [](const std::string& status) {
    JsonText json(R"({"metadata": {"name": "c"}, "status": )" + status + "}");
    return ReadAdmissionCheck(json.root(), json.context()).active;
  };
  EXPECT_EQ(active(R"({"conditions": [{"type": "Active", "status": "True"}]})"), true);
  EXPECT_EQ(active(R"({"conditions": [{"type": "Active", "status": "Unknown"}]})"), false);
  EXPECT_EQ(active("{}"), std::nullopt);
}

TEST(ReadNamespace, HasTheLabelOfItsName) {
  JsonText json(R"({"metadata": {"name": "team", "labels": {"a": "b"}}})");
  EXPECT_EQ(ReadNamespace(json.root(), json.context()),
            (Namespace{"team", {{"a", "b"}, {"kubernetes.io/metadata.name", "team"}}}));
}

TEST(ReadLocalQueue, NamesItsClusterQueue) {
  JsonText json(R"({"metadata": {"namespace": "n", "name": "q"}, "spec": {"clusterQueue": "c"}})");
  EXPECT_EQ(ReadLocalQueue(json.root(), json.context()), (LocalQueue{{"n", "q"}, "c", ""}));
}

TEST(ReadWorkload, Version1Beta2) {
  JsonText json(R"({"apiVersion": "kueue.x-k8s.io/v1beta2", "kind": "Workload",
      "metadata": {"namespace": "n", "name": "w", "uid": "u",
                   "creationTimestamp": "2026-11-20T14:46:14Z",
                   "ownerReferences": [{"apiVersion": "batch/v1", "kind": "Job", "name": "j",
                                        "uid": "ju", "controller": true}]},
      "spec": {"active": false, "queueName": "lq", "priority": 7,
        "priorityClassRef": {"kind": "WorkloadPriorityClass", "name": "prod"},
        "podSets": [{"name": "workers", "count": 4, "minCount": 2,
          "topologyRequest": {"required": "rack", "podSetGroupName": "g",
            "podSetSliceRequiredTopology": "host", "podSetSliceSize": 2,
            "podIndexLabel": "i", "subGroupIndexLabel": "s", "subGroupCount": 2},
          "template": {"spec": {"containers": [{"resources": {"requests": {"cpu": "1"}}}],
                                "tolerations": [{"operator": "Exists"}]}}},
         {"count": 1, "topologyRequest": {"unconstrained": false,
          "podsetSliceRequiredTopologyConstraints": [{"topology": "rack", "size": 4}]}}]},
      "status": {
        "admission": {"clusterQueue": "cq", "podSetAssignments": [
          {"name": "workers", "count": 4, "flavors": {"cpu": "f"}, "resourceUsage": {"cpu": "4"},
           "delayedTopologyRequest": "Ready",
           "topologyAssignment": {"levels": ["host"], "slices": [{"domainCount": 1,
             "podCounts": {"universal": 4}, "valuesPerLevel": [{"universal": "h1"}]}]}}]},
        "conditions": [{"type": "Admitted", "status": "True", "reason": "r", "message": "m"}],
        "unhealthyNodes": [{"name": "h1"}],
        "reclaimablePods": [{"name": "workers", "count": 1}],
        "admissionChecks": [{"name": "c", "state": "Ready", "podSetUpdates": [
          {"name": "workers", "labels": {"a": "1"}, "nodeSelector": {"b": "2"},
           "annotations": {"c": "3"}, "tolerations": [{"key": "k"}]}]}]}})");
  const Workload workload = ReadWorkload(json.root(), json.context());
  EXPECT_THAT(json.Errors(), IsEmpty());
  EXPECT_EQ(workload.key, (ObjectKey{"n", "w"}));
  EXPECT_EQ(workload.uid, "u");
  EXPECT_EQ(workload.creation_seconds, 1795185974);
  EXPECT_EQ(workload.owners, (std::vector<OwnerReference>{{"batch/v1", "Job", "j", "ju", true}}));
  EXPECT_FALSE(workload.active);
  EXPECT_EQ(workload.queue_name, "lq");
  EXPECT_EQ(workload.priority, 7);
  EXPECT_EQ(workload.priority_class, "prod");
  ASSERT_EQ(workload.pod_sets.size(), 2u);
  const PodSet& workers = workload.pod_sets[0];
  EXPECT_EQ(workers.name, "workers");
  EXPECT_EQ(workers.count, 4);
  EXPECT_EQ(workers.min_count, 2);
  EXPECT_EQ(workers.topology_request, (TopologyRequest{.required = "rack",
                                                       .slice_topology = "host",
                                                       .slice_size = 2,
                                                       .pod_set_group_name = "g",
                                                       .pod_index_label = "i",
                                                       .sub_group_index_label = "s",
                                                       .sub_group_count = 2}));
  EXPECT_EQ(workers.pod_template.requests, (Resources{{"cpu", 1000}}));
  EXPECT_EQ(workers.pod_template.tolerations, (std::vector<Toleration>{{"", "Exists", "", ""}}));
  EXPECT_EQ(workload.pod_sets[1].name, "main");
  EXPECT_EQ(workload.pod_sets[1].topology_request,
            (TopologyRequest{.unconstrained = false, .slice_constraints = {{"rack", 4}}}));
  ASSERT_TRUE(workload.admission.has_value());
  const PodSetAssignment& assignment = workload.admission->pod_set_assignments.at(0);
  EXPECT_EQ(assignment.flavors, (StringMap{{"cpu", "f"}}));
  EXPECT_EQ(assignment.resource_usage, (Resources{{"cpu", 4000}}));
  EXPECT_EQ(assignment.delayed_topology_request, "Ready");
  EXPECT_EQ(assignment.topology_assignment, (TopologyAssignment{{"host"}, {{{"h1"}, 4}}}));
  EXPECT_TRUE(HasCondition(workload, "Admitted"));
  EXPECT_THAT(workload.unhealthy_nodes, ElementsAre("h1"));
  EXPECT_EQ(workload.reclaimable_pods, (std::vector<ReclaimablePod>{{"workers", 1}}));
  EXPECT_EQ(workload.admission_checks,
            (std::vector<AdmissionCheckState>{
                {"c",
                 "Ready",
                 {{"workers", {{"a", "1"}}, {{"c", "3"}}, {{"b", "2"}}, {{"k", "", "", ""}}}}}}));
}

TEST(ReadWorkload, Version1Beta1) {
  ClusterDefaults defaults;
  defaults.workload_priority_classes = {{"prod", 100}};
  defaults.priority_classes = {{"prod", 5}};
  const auto read = [&](std::string_view source) {
    JsonText json(fmt::format(R"({{"apiVersion": "kueue.x-k8s.io/v1beta1",
        "metadata": {{"namespace": "n", "name": "w"}},
        "spec": {{"priorityClassName": "prod", "priorityClassSource": "{}"}},
        "status": {{"admission": {{"podSetAssignments": [{{"name": "main",
          "topologyAssignment": {{"levels": ["rack", "host"],
            "domains": [{{"values": ["r1", "h1"], "count": 2}}]}}}}]}}}}}})",
                              source));
    const Workload workload = ReadWorkload(json.root(), json.context(), defaults);
    EXPECT_THAT(json.Errors(), IsEmpty());
    return workload;
  };
  const Workload workload = read("kueue.x-k8s.io/workloadpriorityclass");
  EXPECT_EQ(workload.priority, 100);
  EXPECT_EQ(workload.admission->pod_set_assignments[0].topology_assignment,
            (TopologyAssignment{{"rack", "host"}, {{{"r1", "h1"}, 2}}}));
  EXPECT_EQ(read("scheduling.k8s.io/priorityclass").priority, 5);
}

TEST(ReadWorkload, AnUnknownPriorityClassIsAWarning) {
  JsonText json(R"({"metadata": {"name": "w"}, "spec": {"priorityClassName": "gone"}})");
  EXPECT_EQ(ReadWorkload(json.root(), json.context()).priority, 0);
  EXPECT_THAT(json.Warnings(), ElementsAre("spec: the priority class gone is not in the input, so "
                                           "the priority counts as 0"));
}

TEST(ReadWorkload, PodSetsHaveNamesOfTheirOwn) {
  JsonText json(R"({"metadata": {"name": "w"}, "spec": {"podSets": [
      {"name": "workers"}, {}, {"name": "leader"}, {"name": "workers"}, {"name": "main"}]}})");
  ReadWorkload(json.root(), json.context());
  EXPECT_THAT(json.Errors(), ElementsAre("spec.podSets: two pod sets are named \"workers\"",
                                         "spec.podSets: two pod sets are named \"main\""));
}

TEST(ReadWorkload, BadValuesAreErrors) {
  JsonText json(R"({"metadata": {"name": "w", "creationTimestamp": "yesterday"}, "spec": {
      "priority": "high", "podSets": [{"count": -1, "minCount": 1.5},
                                      {"name": "large", "count": 2147483648}]}})");
  ReadWorkload(json.root(), json.context());
  EXPECT_THAT(json.Errors(),
              ElementsAre("metadata.creationTimestamp: it is not a time",
                          "spec.priority: it is out of range or no integer",
                          "spec.podSets[0].count: it is out of range or no integer",
                          "spec.podSets[0].minCount: it is out of range or no integer",
                          "spec.podSets[1].count: it is out of range or no integer"));
}

TEST(ReadPodSet, TemplateAnnotationsMeanTheSameAsTheField) {  // W2.3
  JsonText json(R"({"count": 8, "template": {"metadata": {"annotations": {
      "kueue.x-k8s.io/podset-preferred-topology": "example.com/rack"}}}})");
  EXPECT_EQ(ReadPodSet(json.root(), json.context()).topology_request,
            (TopologyRequest{.preferred = "example.com/rack"}));
  JsonText field(R"({"count": 8, "topologyRequest": {"unconstrained": true},
      "template": {"metadata": {"annotations": {
      "kueue.x-k8s.io/podset-preferred-topology": "example.com/rack"}}}})");
  EXPECT_EQ(ReadPodSet(field.root(), field.context()).topology_request,
            (TopologyRequest{.unconstrained = true}));
}

TEST(Times, Rfc3339) {
  const auto seconds = [](std::string_view text) {
    JsonText json(fmt::format(R"({{"t": "{}"}})", text));
    return TimeMember(json.root(), "t", json.context());
  };
  EXPECT_EQ(seconds("1970-01-01T00:00:00Z"), 0);
  EXPECT_EQ(seconds("2000-02-29T12:00:00.123456Z"), 951825600);
  EXPECT_EQ(seconds("2000-02-29T12:00:00+02:00"), 951818400);
  EXPECT_EQ(seconds("2000-02-29T12:00:00-00:30"), 951827400);
  EXPECT_EQ(seconds("1969-12-31T23:59:59Z"), -1);
  for (const char* wrong :
       {"", "2001-02-29T12:00:00Z", "2000-02-29", "2000-02-29T25:00:00Z", "2000-02-29T12:00:00",
        "2000-02-29T12:00:00Zx", "2000-13-01T00:00:00Z", "-200-02-29T12:00:00Z"}) {
    EXPECT_EQ(seconds(wrong), std::nullopt) << wrong;
  }
}

TEST(Diagnostics, KeepAHundredAndCountTheRest) {
  std::string taints;
  for (int i = 0; i < 250; ++i) taints += "1,";
  JsonText json(R"({"metadata": {"name": "n"}, "spec": {"taints": [)" + taints + "2]}}");
  ReadNode(json.root(), json.context());
  EXPECT_EQ(json.diagnostics.error_count(), 251u);
  EXPECT_EQ(json.diagnostics.errors().size(), 100u);
  EXPECT_TRUE(json.diagnostics.RenderErrors().ends_with("\nand 151 more errors"));
}

TEST(Diagnostics, StrictMakesWarningsErrors) {
  Diagnostics strict(true);
  strict.AddWarning({.problem = "it is odd"});
  EXPECT_FALSE(strict.ok());
  Diagnostics lenient;
  lenient.AddWarning({.problem = "it is odd"});
  EXPECT_TRUE(lenient.ok());
  EXPECT_EQ(lenient.RenderWarnings(), "it is odd");
}

}  // namespace
}  // namespace espalier::kubernetes_objects_test
