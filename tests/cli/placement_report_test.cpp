#include "service/cli/reports/placement_report.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::placement_report_test {
namespace {

using testing::HasSubstr;

constexpr const char* kRack = "example.com/rack";

// A cluster of two racks of two hosts, and five workloads: placed, failed in the engine, refused
// before it, with nothing to place, and one of two pod sets of which the second does not fit.
class PlacementReportTest : public testing::Test {
 protected:
  PlacementReportTest() {
    state_.topologies = {{.name = "default", .levels = {kRack, "kubernetes.io/hostname"}}};
    state_.flavors = {{.name = "gpu", .topology_name = "default"}};
    for (const auto& [rack, host] : std::vector<std::pair<const char*, const char*>>{
             {"r1", "h1"}, {"r1", "h2"}, {"r2", "h3"}, {"r2", "h4"}}) {
      Node node{.name = host};
      node.labels = {{kRack, rack}, {"kubernetes.io/hostname", host}};
      state_.nodes.push_back(node);
    }
    AddWorkload("placed", {Main()}, {{{.name = "main", .flavor = "gpu", .assignment = OnRack1()}}});
    AddWorkload("full", {Main()},
                {{{.name = "main", .flavor = "gpu", .failure = PlacementFailure{"no room"}}}});
    AddWorkload("refused", {}, {});
    planned_.back().plan = RefusedWorkload{"couldn't assign flavors to pod set main: no flavor"};
    AddWorkload("plain", {}, {});
    planned_.back().plan = NothingToPlace{"no topology: nothing to place"};
    PodSetRequest leader = Main();
    leader.name = "leader";
    AddWorkload("group", {leader, Main()},
                {{{.name = "leader", .flavor = "gpu", .assignment = OnRack1()},
                  {.name = "main", .flavor = "gpu", .failure = PlacementFailure{"no room"}}}});
  }

  static PodSetRequest Main() {
    return {.name = "main",
            .flavor = "gpu",
            .count = 4,
            .requests = {{"cpu", 1500}, {"nvidia.com/gpu", 8}},
            .topology_request = TopologyRequest{.required = kRack}};
  }
  static TopologyAssignment OnRack1() {
    return {.levels = {"kubernetes.io/hostname"}, .domains = {{{"h1"}, 2}, {{"h2"}, 2}}};
  }
  void AddWorkload(const char* name, std::vector<PodSetRequest> pod_sets, WorkloadAnswer answer) {
    Workload workload{.key = {"team", name}, .priority = 7};
    workload.pod_sets = {{.name = "main", .count = 4}};
    planned_.push_back({cluster_.workloads.size(), "queue",
                        WorkloadRequest{.key = workload.key, .pod_sets = std::move(pod_sets)}});
    cluster_.workloads.push_back(workload);
    answers_.push_back(std::move(answer));
  }

  PlacementReport Report() const {
    return {cluster_, state_, planned_, answers_, "4 of 4 nodes take part"};
  }

  Cluster cluster_;
  ClusterStateInput state_;
  std::vector<PlannedWorkload> planned_;
  std::vector<WorkloadAnswer> answers_;
};

TEST_F(PlacementReportTest, CountsOutcomes) {
  EXPECT_EQ(CountOutcomes(Report()),
            (OutcomeCounts{.placed = 1, .not_placed = 3, .nothing_to_place = 1}));
}

TEST_F(PlacementReportTest, TableHasARowPerPodSet) {
  EXPECT_EQ(
      PlacementTable(Report(), Detail::kShort),
      "WORKLOAD      POD SET  PODS  REQUESTED      REACHED  PLACEMENT\n"
      "team/placed   main     4     required rack  rack     r1: 2 hosts x 2\n"
      "team/full     main     4     required rack  -        not placed: no room\n"
      "team/refused  main     4     -              -        not placed: couldn't assign flavors to "
      "pod set main: no flavor\n"
      "team/plain    main     4     -              -        no topology: nothing to place\n"
      "team/group    leader   4     required rack  -        not placed: pod set main does not fit\n"
      "team/group    main     4     required rack  -        not placed: no room\n"
      "\n"
      "4 of 4 nodes take part\n"
      "1 placed, 3 not placed, 1 with nothing to place\n");
}

TEST_F(PlacementReportTest, WideTableNamesHostsQueueAndFlavor) {
  EXPECT_THAT(PlacementTable(Report(), Detail::kFull),
              HasSubstr("team/placed   7         queue          gpu     main     4     "
                        "required rack  rack     r1/h{1,2}: 2 hosts x 2\n"));
}

TEST_F(PlacementReportTest, TableOfNothingSaysSo) {
  EXPECT_EQ(PlacementTable({cluster_, state_, {}, {}, "0 of 0 nodes take part"}, Detail::kShort),
            "No pending workloads.\n0 of 0 nodes take part\n");
}

TEST_F(PlacementReportTest, ObjectsAreKueuesStatus) {
  answers_.resize(4);
  planned_.resize(4);
  const auto out = MakeYamlWriter();
  WritePlacementObjects(Report(), FeatureGates{}, *out);
  EXPECT_EQ(out->Finish(), R"(apiVersion: "v1"
kind: "List"
items:
  - apiVersion: "kueue.x-k8s.io/v1beta2"
    kind: "Workload"
    metadata:
      name: "placed"
      namespace: "team"
    status:
      admission:
        clusterQueue: "queue"
        podSetAssignments:
          - name: "main"
            flavors:
              cpu: "gpu"
              nvidia.com/gpu: "gpu"
            resourceUsage:
              cpu: "6"
              nvidia.com/gpu: "32"
            count: 4
            topologyAssignment:
              levels:
                - "kubernetes.io/hostname"
              slices:
                - domainCount: 2
                  valuesPerLevel:
                    - individual:
                        prefix: "h"
                        roots:
                          - "1"
                          - "2"
                  podCounts:
                    universal: 2
  - apiVersion: "kueue.x-k8s.io/v1beta2"
    kind: "Workload"
    metadata:
      name: "full"
      namespace: "team"
    status:
      conditions:
        - type: "QuotaReserved"
          status: "False"
          reason: "Pending"
          message: "couldn't assign flavors to pod set main: no room"
  - apiVersion: "kueue.x-k8s.io/v1beta2"
    kind: "Workload"
    metadata:
      name: "refused"
      namespace: "team"
    status:
      conditions:
        - type: "QuotaReserved"
          status: "False"
          reason: "Pending"
          message: "couldn't assign flavors to pod set main: no flavor"
)");
}

TEST_F(PlacementReportTest, ReasonJoinsAllFailedPodSets) {  // R18.8
  answers_.back().pod_sets[0] = {.name = "leader", .failure = PlacementFailure{"too big"}};
  EXPECT_EQ(ReasonOf(planned_.back(), answers_.back()),
            "couldn't assign flavors to pod set leader: too big; "
            "couldn't assign flavors to pod set main: no room");
}

// Answers are looked up by name: the time must not grow with the square of the pod sets.
TEST_F(PlacementReportTest, TakesAsLongAsItHasPodSets) {
  std::vector<PodSetRequest> pod_sets(100'000, Main());
  WorkloadAnswer answer;
  for (std::size_t i = 0; i < pod_sets.size(); ++i) {
    pod_sets[i].name = std::to_string(i);
    answer.pod_sets.push_back({.name = pod_sets[i].name, .flavor = "gpu", .assignment = OnRack1()});
  }
  AddWorkload("many", std::move(pod_sets), std::move(answer));
  EXPECT_THAT(PlacementTable(Report(), Detail::kShort),
              HasSubstr("team/many     99999    4     required rack  rack     r1: 2 hosts x 2\n"));
  const auto writer = MakeJsonWriter();
  WritePlacementObjects(Report(), {}, *writer);
  EXPECT_THAT(writer->Finish(), HasSubstr("\"name\": \"99999\""));
}

}  // namespace
}  // namespace espalier::placement_report_test
