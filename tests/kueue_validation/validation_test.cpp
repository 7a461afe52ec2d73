// One test per rule of R23.12 to R23.16.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/webhooks/object_rules.hpp"

namespace espalier::validation_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

const std::string kHost(kHostnameLabel);

auto Finds(const std::string& field, const std::string& message) {
  return ::testing::AllOf(::testing::Field("field", &Violation::field, field),
                          ::testing::Field("message", &Violation::message, message));
}

// A workload with one pod set and this request.
Workload With(const TopologyRequest& request) {
  Workload workload;
  workload.key = {"team", "train"};
  PodSet& pod_set = workload.pod_sets.emplace_back();
  pod_set.name = "main";
  pod_set.count = 4;
  pod_set.topology_request = request;
  return workload;
}

std::vector<Violation> Validate(const Workload& workload, const FeatureGates& gates = {}) {
  return ValidateWorkload(workload, gates);
}

const std::string kRequestPath = "spec.podSets[0].topologyRequest";

TEST(ValidateWorkload, SliceSizes_R23_12) {
  TopologyRequest request;
  request.slice_topology = "rack";
  const auto missing = Validate(With(request));
  EXPECT_THAT(missing, ElementsAre(Finds(kRequestPath + ".podSetSliceSize",
                                         "must be set when podSetSliceRequiredTopology is "
                                         "specified")));
  EXPECT_EQ(missing[0].object, "Workload team/train");
  request.slice_size = 0;
  EXPECT_THAT(Validate(With(request)),
              ElementsAre(Finds(kRequestPath + ".podSetSliceSize", "must be greater than 0")));
  request = {};
  request.slice_size = 2;
  EXPECT_THAT(Validate(With(request)),
              ElementsAre(Finds(kRequestPath + ".podSetSliceSize",
                                "may not be set when podSetSliceRequiredTopology is not "
                                "specified")));
  request = {};
  request.slice_constraints = {{"rack", 2}, {"host", -1}};
  EXPECT_THAT(Validate(With(request)),
              ElementsAre(Finds(kRequestPath + ".podsetSliceRequiredTopologyConstraints[1].size",
                                "must be greater than 0")));
}

TEST(ValidateWorkload, SliceSizesWithTheGateOff_R23_12) {
  FeatureGates off;
  off.validate_workload_slice_size = false;
  TopologyRequest request;
  request.slice_topology = "rack";
  EXPECT_THAT(Validate(With(request), off), IsEmpty());
  request.slice_size = 0;  // the schema still refuses it
  EXPECT_THAT(
      Validate(With(request), off),
      ElementsAre(Finds(kRequestPath + ".podSetSliceSize", "must be greater than or equal to 1")));
}

TEST(ValidateWorkload, Requests_R23_13) {
  Workload workload = With({});
  workload.pod_sets[0].pod_template.requests = {{"cpu", -1}, {"pods", 2}};
  const std::string field = "spec.podSets[0].template.spec.containers";
  EXPECT_THAT(Validate(workload), ElementsAre(Finds(field, "must be greater than or equal to 0"),
                                              Finds(field, "may not request the resource pods")));
  FeatureGates off;
  off.workload_validate_resources_are_non_negative = false;
  EXPECT_THAT(Validate(workload, off),
              ElementsAre(Finds(field, "may not request the resource pods")));
}

TEST(ValidateWorkloadUpdate, OnlyTheAssignmentMayChange_R23_13) {
  Workload before;
  PodSetAssignment assignment;
  assignment.name = "main";
  assignment.flavors = {{"cpu", "f"}};
  before.admission = Admission{"queue", {assignment}};
  Workload after = before;
  after.admission->pod_set_assignments[0].topology_assignment = TopologyAssignment{{kHost}, {}};
  after.admission->pod_set_assignments[0].delayed_topology_request = "Ready";
  EXPECT_THAT(ValidateWorkloadUpdate(before, after), IsEmpty());
  after.admission->pod_set_assignments[0].flavors = {{"cpu", "g"}};
  EXPECT_THAT(ValidateWorkloadUpdate(before, after),
              ElementsAre(Finds("status.admission", "field is immutable")));
  after.admission.reset();
  EXPECT_THAT(ValidateWorkloadUpdate(before, after), IsEmpty());
}

TEST(ValidateWorkload, Lengths_R23_14) {
  const auto refuses = [](auto set, const std::string& member, const std::string& message) {
    TopologyRequest request;
    set(request);
    EXPECT_THAT(Validate(With(request)), ElementsAre(Finds(kRequestPath + member, message)));
  };
  const auto text = [](std::size_t bytes) { return std::string(bytes, 'a'); };
  refuses([&](auto& r) { r.required = text(64); }, ".required", "must have 0 to 63 bytes");
  refuses([&](auto& r) { r.preferred = text(64); }, ".preferred", "must have 0 to 63 bytes");
  refuses(
      [&](auto& r) {
        r.slice_topology = text(64);
        r.slice_size = 1;
      },
      ".podSetSliceRequiredTopology", "must have 0 to 63 bytes");
  refuses([&](auto& r) { r.pod_index_label = text(318); }, ".podIndexLabel",
          "must have 0 to 317 bytes");
  refuses([&](auto& r) { r.sub_group_index_label = text(318); }, ".subGroupIndexLabel",
          "must have 0 to 317 bytes");
  refuses([&](auto& r) { r.pod_set_group_name = text(257); }, ".podSetGroupName",
          "must have 0 to 256 bytes");
  refuses([&](auto& r) { r.sub_group_count = -1; }, ".subGroupCount",
          "must be greater than or equal to 0");
  const std::string constraints = ".podsetSliceRequiredTopologyConstraints";
  refuses(
      [&](auto& r) {
        r.slice_constraints.assign(4, {"rack", 1});
      },
      constraints, "must have 0 to 3 items");
  refuses(
      [&](auto& r) {
        r.slice_constraints = {{"", 1}};
      },
      constraints + "[0].topology", "must have 1 to 63 bytes");
}

TEST(ValidateWorkload, Status_R23_14) {
  Workload workload = With({});
  workload.unhealthy_nodes.assign(9, "n");
  workload.admission = Admission{"queue", std::vector<PodSetAssignment>(19)};
  EXPECT_THAT(Validate(workload),
              ElementsAre(Finds("status.unhealthyNodes", "must have 0 to 8 items"),
                          Finds("status.admission.podSetAssignments", "must have 0 to 18 items")));
}

TEST(ValidateWorkload, Assignment_R19_9) {
  Workload workload = With({});
  workload.admission = Admission{"queue", std::vector<PodSetAssignment>(1)};
  auto& assignment = workload.admission->pod_set_assignments[0].topology_assignment;
  const std::string field = "status.admission.podSetAssignments[0].topologyAssignment";
  assignment = TopologyAssignment{{kHost}, {{{"x1"}, 1}}};
  EXPECT_THAT(Validate(workload), IsEmpty());
  assignment.Mutable().domains[0].values.clear();
  EXPECT_THAT(Validate(workload),
              ElementsAre(Finds(field, "must have one value per level in every domain")));
  assignment.Mutable().domains[0] = {{"x1"}, 0};
  const auto found = Validate(workload);
  ASSERT_EQ(found.size(), 1u);
  EXPECT_THAT(found[0].message, HasSubstr("podCounts.universal: 0, want at least 1"));
}

TEST(ValidateWorkload, TemplatesByOwnerKind_R23_11) {
  Workload workload = With({});
  workload.pod_sets[0].pod_template.annotations = {
      {"kueue.x-k8s.io/podset-group-name", "g"},
      {"kueue.x-k8s.io/podset-required-topology", "rack"}};
  EXPECT_THAT(Validate(workload), IsEmpty());
  workload.owners = {{"jobset.x-k8s.io/v1alpha2", "JobSet", "train", "1", true}};
  EXPECT_EQ(Validate(workload).size(), 1u);
}

TEST(ValidateWorkload, ElasticJob_R23_10) {
  Workload workload = With({});
  workload.pod_sets[0].pod_template.annotations = {
      {"kueue.x-k8s.io/podset-required-topology", "rack"}};
  workload.annotations = {{"kueue.x-k8s.io/elastic-job", "true"}};
  EXPECT_EQ(Validate(workload).size(), 1u);
  FeatureGates off;
  off.elastic_jobs_via_workload_slices = false;
  EXPECT_THAT(Validate(workload, off), IsEmpty());
}

TEST(ValidateTopology, Levels_R23_15) {
  EXPECT_THAT(ValidateTopology({"t", {"block", kHost}}), IsEmpty());
  EXPECT_THAT(ValidateTopology({"t", {}}),
              ElementsAre(Finds("spec.levels", "must have 1 to 16 items")));
  std::vector<std::string> many;
  for (char c = 'a'; c < 'a' + 17; ++c) many.push_back(std::string(1, c));
  EXPECT_THAT(ValidateTopology({"t", many}),
              ElementsAre(Finds("spec.levels", "must have 1 to 16 items")));
  EXPECT_THAT(ValidateTopology({"t", {""}}),
              ElementsAre(Finds("spec.levels[0].nodeLabel", "must have 1 to 316 bytes")));
  EXPECT_THAT(ValidateTopology({"t", {"a b"}}),
              ElementsAre(Finds("spec.levels[0].nodeLabel", "must be a label key")));
  EXPECT_THAT(ValidateTopology({"t", {"a", "a"}}),
              ElementsAre(Finds("spec.levels[1].nodeLabel", "must be unique")));
  EXPECT_THAT(ValidateTopology({"t", {kHost, "a"}}),
              ElementsAre(Finds("spec.levels[0].nodeLabel",
                                "may only be used at the lowest level of the topology")));
}

TEST(ValidateTopologyUpdate, LevelsChangeOnlyAboveHosts_R23_15) {
  EXPECT_THAT(ValidateTopologyUpdate({"t", {"a", kHost}}, {"t", {"b", kHost}}), IsEmpty());
  EXPECT_THAT(ValidateTopologyUpdate({"t", {"a"}}, {"t", {"a"}}), IsEmpty());
  EXPECT_EQ(ValidateTopologyUpdate({"t", {"a"}}, {"t", {"a", kHost}}).size(), 1u);
  EXPECT_EQ(ValidateTopologyUpdate({"t", {"a", kHost}}, {"t", {"a"}}).size(), 1u);
}

TEST(ValidateResourceFlavor, Limits_R23_16) {
  ResourceFlavor flavor;
  flavor.name = "f";
  EXPECT_THAT(ValidateResourceFlavor(flavor), IsEmpty());
  flavor.topology_name = "t";
  EXPECT_THAT(ValidateResourceFlavor(flavor),
              ElementsAre(Finds("spec.nodeLabels",
                                "must have at least one label when topologyName is set")));
  for (int i = 0; i < 9; ++i) flavor.node_labels.Set(std::to_string(i), "");
  flavor.node_taints.resize(9);
  flavor.tolerations.resize(9);
  EXPECT_THAT(ValidateResourceFlavor(flavor),
              ElementsAre(Finds("spec.nodeLabels", "must have 0 to 8 items"),
                          Finds("spec.nodeTaints", "must have 0 to 8 items"),
                          Finds("spec.tolerations", "must have 0 to 8 items")));
}

TEST(ValidateResourceFlavorUpdate, TopologyIsImmutableOnceSet_R23_16) {
  ResourceFlavor none;
  ResourceFlavor with;
  with.topology_name = "t";
  EXPECT_THAT(ValidateResourceFlavorUpdate(none, with), IsEmpty());
  EXPECT_THAT(ValidateResourceFlavorUpdate(with, none),
              ElementsAre(Finds("spec.topologyName", "field is immutable")));
}

TEST(ValidateCluster, CoversEveryKind) {
  Cluster cluster;
  cluster.topologies = {{"t", {}}};
  ResourceFlavor flavor;
  flavor.topology_name = "t";
  cluster.flavors = {flavor};
  TopologyRequest request;
  request.sub_group_count = -1;
  cluster.workloads = {With(request)};
  EXPECT_EQ(ValidateCluster(cluster, FeatureGates{}).size(), 3u);
}

}  // namespace
}  // namespace espalier::validation_test
