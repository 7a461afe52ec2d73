#include "host/kueue/objects/ungater.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

namespace espalier::ungater_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

const std::string kHost(kHostnameLabel);

Pod Gated(const std::string& name, std::string index = "") {
  Pod pod;
  pod.key = {"team", name};
  pod.scheduling_gates = {std::string(kTopologyGate)};
  if (!index.empty()) pod.labels.Set("index", index);
  return pod;
}

Pod Running(const std::string& name, const std::string& node, std::string index = "") {
  Pod pod = Gated(name, std::move(index));
  pod.scheduling_gates.clear();
  pod.node_selector.Set(kHost, node);
  return pod;
}

TopologyAssignment OnNodes(const std::vector<std::pair<std::string, std::int32_t>>& nodes) {
  TopologyAssignment assignment{{kHost}, {}};
  for (const auto& [node, count] : nodes) assignment.domains.push_back({{node}, count});
  return assignment;
}

TopologyRequest Indexed() {
  TopologyRequest request;
  request.pod_index_label = "index";
  return request;
}

// The workers of E20: four pods behind a leader, two on n1 and two on n2.
PodSetToUngate Workers(std::vector<Pod> pods) {
  return {OnNodes({{"n1", 2}, {"n2", 2}}), 4, Indexed(), std::move(pods), 1, 5};
}

std::vector<std::pair<std::string, std::string>> Ungate(const PodSetToUngate& pod_set) {
  std::vector<std::pair<std::string, std::string>> result;
  for (const UngatedPod& pod : UngatePodSet(pod_set)) result.emplace_back(pod.pod.name, pod.domain);
  return result;
}

TEST(Ungater, RanksFollowTheOffset_R22_5_E20) {
  EXPECT_THAT(Ungate(Workers({Gated("a", "4"), Gated("b", "1"), Gated("c", "2")})),
              ElementsAre(Pair("a", "n2"), Pair("b", "n1"), Pair("c", "n1")));
}

TEST(Ungater, IndexBelowTheOffsetMakesAllGreedy_R22_4_E20) {
  EXPECT_THAT(Ungate(Workers({Gated("a", "4"), Gated("b", "0"), Gated("c", "2"), Gated("d", "3")})),
              ElementsAre(Pair("a", "n1"), Pair("b", "n1"), Pair("c", "n2"), Pair("d", "n2")));
}

TEST(Ungater, EachBrokenRankMakesAllGreedy_R22_4) {
  for (const std::string index : {"5", "-1", "+1", "1x", "x", "", "99999999999999999999"}) {
    EXPECT_THAT(Ungate(Workers({Gated("a", index), Gated("b", "4")})),
                ElementsAre(Pair("a", "n1"), Pair("b", "n1")))
        << index;
  }
  EXPECT_THAT(Ungate(Workers({Gated("a", "4"), Gated("b", "4")})),
              ElementsAre(Pair("a", "n1"), Pair("b", "n1")));
}

TEST(Ungater, RunningPodElsewhereMakesAllGreedyAndIsCounted_R22_4_E20) {
  EXPECT_THAT(
      Ungate(Workers({Running("a", "n2", "1"), Gated("b", "2"), Gated("c", "3"), Gated("d", "4")})),
      ElementsAre(Pair("b", "n1"), Pair("c", "n1"), Pair("d", "n2")));
  EXPECT_THAT(Ungate(Workers({Running("a", "n1", "1"), Gated("b", "4")})),
              ElementsAre(Pair("b", "n2")));
}

TEST(Ungater, RankBeyondTheAssignmentMakesAllGreedy_R22_4) {
  PodSetToUngate workers = Workers({Gated("a", "4"), Gated("b", "1")});
  workers.assignment = OnNodes({{"n1", 1}, {"n2", 1}});
  EXPECT_THAT(Ungate(workers), ElementsAre(Pair("a", "n1"), Pair("b", "n2")));
}

TEST(Ungater, SubGroupsLieBehindEachOther_R22_4) {
  TopologyRequest request = Indexed();
  request.sub_group_index_label = "job";
  request.sub_group_count = 2;
  PodSetToUngate pod_set{OnNodes({{"n1", 2}, {"n2", 2}}), 4, request, {}, 0, 4};
  pod_set.pods = {Gated("a", "1"), Gated("b", "0")};
  pod_set.pods[0].labels.Set("job", "1");
  pod_set.pods[1].labels.Set("job", "0");
  EXPECT_THAT(Ungate(pod_set), ElementsAre(Pair("a", "n2"), Pair("b", "n1")));

  pod_set.pods[0].labels.Set("index", "2");  // not below 4 / 2
  EXPECT_THAT(Ungate(pod_set), ElementsAre(Pair("a", "n1"), Pair("b", "n1")));
  pod_set.pods[0].labels.Set("index", "1");
  pod_set.pods[0].labels.Set("job", "2");  // not below the number of sub-groups
  EXPECT_THAT(Ungate(pod_set), ElementsAre(Pair("a", "n1"), Pair("b", "n1")));
  pod_set.topology_request->sub_group_count = 0;
  pod_set.pods[0].labels.Set("job", "1");
  EXPECT_THAT(Ungate(pod_set), ElementsAre(Pair("a", "n1"), Pair("b", "n1")));
}

TEST(Ungater, SurplusPodsStayGated_R22_6) {
  PodSetToUngate pod_set{OnNodes({{"n1", 1}}), 1, std::nullopt, {}, 0, 1};
  pod_set.pods = {Running("a", "n1"), Gated("b")};
  EXPECT_THAT(Ungate(pod_set), IsEmpty());
  pod_set.pods = {Gated("b"), Gated("c")};
  EXPECT_THAT(Ungate(pod_set), ElementsAre(Pair("b", "n1")));
}

TEST(Ungater, EveryLevelGoesIntoTheSelector_R22_8) {
  PodSetToUngate pod_set;
  pod_set.assignment = {{"block", "rack"}, {{{"b1", "r2"}, 1}}};
  pod_set.count = 1;
  pod_set.pods = {Gated("a")};
  const auto ungated = UngatePodSet(pod_set);
  ASSERT_EQ(ungated.size(), 1u);
  EXPECT_EQ(ungated[0].domain, "b1,r2");
  EXPECT_EQ(ungated[0].node_selector, (StringMap{{"block", "b1"}, {"rack", "r2"}}));
}

// E20 as a whole workload: a leader on n1, four workers on n1 and n2.
Workload LeaderAndWorkers() {
  Workload workload;
  workload.key = {"team", "job"};
  workload.conditions = {{"Admitted", "True", "", ""}};
  TopologyRequest request = Indexed();
  request.pod_set_group_name = "g";
  PodSet leader;
  leader.name = "leader";
  leader.count = 1;
  leader.topology_request = request;
  PodSet workers = leader;
  workers.name = "workers";
  workers.count = 4;
  workload.pod_sets = {leader, workers};
  PodSetAssignment leader_admitted;
  leader_admitted.name = "leader";
  leader_admitted.count = 1;
  leader_admitted.topology_assignment = OnNodes({{"n1", 1}});
  PodSetAssignment workers_admitted;
  workers_admitted.name = "workers";
  workers_admitted.count = 4;
  workers_admitted.topology_assignment = OnNodes({{"n1", 2}, {"n2", 2}});
  workload.admission = Admission{"queue", {leader_admitted, workers_admitted}};
  return workload;
}

Pod Of(Pod pod, const std::string& pod_set) {
  pod.annotations.Set(kWorkloadAnnotation, "job");
  pod.labels.Set(kPodSetLabel, pod_set);
  return pod;
}

std::vector<std::pair<std::string, std::string>> Ungate(const Workload& workload,
                                                        const std::vector<Pod>& pods) {
  const auto ungated = UngateWorkload(workload, pods);
  std::vector<std::pair<std::string, std::string>> result;
  if (!ungated) return {{"error", ungated.error().message}};
  for (const UngatedPod& pod : *ungated) result.emplace_back(pod.pod.name, pod.domain);
  return result;
}

TEST(UngateWorkload, WorkersIndexesFollowTheLeader_R22_2_E20) {
  EXPECT_THAT(
      Ungate(LeaderAndWorkers(), {Of(Gated("w4", "4"), "workers"), Of(Gated("w1", "1"), "workers"),
                                  Of(Gated("l", "0"), "leader")}),
      ElementsAre(Pair("l", "n1"), Pair("w1", "n1"), Pair("w4", "n2")));
}

TEST(UngateWorkload, OnEqualCountsTheFirstIsTheLeader_R22_2) {
  Workload workload = LeaderAndWorkers();
  workload.admission->pod_set_assignments[1].count = 1;
  workload.admission->pod_set_assignments[1].topology_assignment = OnNodes({{"n2", 1}});
  EXPECT_THAT(Ungate(workload, {Of(Gated("l", "0"), "leader"), Of(Gated("w", "1"), "workers")}),
              ElementsAre(Pair("l", "n1"), Pair("w", "n2")));
}

TEST(UngateWorkload, AnnotationShiftsTheIndexes_R22_2) {
  Workload workload = LeaderAndWorkers();
  for (PodSet& pod_set : workload.pod_sets) pod_set.topology_request->pod_set_group_name.reset();
  Pod first = Of(Gated("w1", "1"), "workers");
  first.annotations.Set(kPodIndexOffsetAnnotation, "1");
  EXPECT_THAT(Ungate(workload, {first, Of(Gated("w4", "4"), "workers")}),
              ElementsAre(Pair("w1", "n1"), Pair("w4", "n2")));

  first.annotations.Set(kPodIndexOffsetAnnotation, "one");
  const auto failed = UngateWorkload(workload, std::vector{first});
  ASSERT_FALSE(failed);
  EXPECT_THAT(failed.error().message, HasSubstr("Pod team/w1"));
  EXPECT_THAT(failed.error().message, HasSubstr("\"one\" is not an integer"));
}

TEST(UngateWorkload, OnlyLivePodsOfTheWorkloadTakePart_R22_1) {
  Pod other_workload = Of(Gated("o", "1"), "workers");
  other_workload.annotations.Set(kWorkloadAnnotation, "other");
  Pod other_namespace = Of(Gated("n", "1"), "workers");
  other_namespace.key.namespace_ = "else";
  Pod failed = Of(Gated("f", "1"), "workers");
  failed.phase = "Failed";
  EXPECT_THAT(Ungate(LeaderAndWorkers(),
                     {other_workload, other_namespace, failed, Of(Gated("w", "1"), "workers")}),
              ElementsAre(Pair("w", "n1")));
}

// An admitted workload of `count` pods `main` without a topology, and pods of it.
Workload ElasticWorkload(std::int32_t count) {
  Workload workload;
  workload.key = {"team", "w-2"};
  workload.annotations = {{"kueue.x-k8s.io/elastic-job", "true"},
                          {"kueue.x-k8s.io/workload-slice-name", "w"},
                          {"kueue.x-k8s.io/workload-slice-replacement-for", "team/w"}};
  workload.pod_sets.resize(1);
  workload.pod_sets[0].name = "main";
  workload.pod_sets[0].count = count;
  PodSetAssignment admitted;
  admitted.name = "main";
  admitted.count = count;
  workload.admission = Admission{"queue", {admitted}};
  workload.conditions = {{"Admitted", "True", "", ""}};
  return workload;
}

Pod ElasticPod(const std::string& name, std::vector<std::string> gates) {
  Pod pod;
  pod.key = {"team", name};
  pod.labels = {{std::string(kPodSetLabel), "main"}};
  pod.annotations = {{"kueue.x-k8s.io/workload-slice-name", "w"}};
  pod.scheduling_gates = std::move(gates);
  return pod;
}

std::vector<std::string> Names(const Result<std::vector<UngatedPod>>& ungated) {
  std::vector<std::string> names;
  for (const UngatedPod& pod : *ungated) names.push_back(pod.pod.name);
  return names;
}

const std::string kElastic(kElasticJobGate);
const std::string kTopology(kTopologyGate);

TEST(UngateElasticJobs, AsManyStartAsAreAdmitted_W5_4) {
  const std::vector<Pod> pods = {ElasticPod("p4", {kElastic}), ElasticPod("p0", {}),
                                 ElasticPod("p1", {}), ElasticPod("p3", {kElastic}),
                                 ElasticPod("p2", {"example.com/other", kElastic})};
  const auto ungated = UngateWorkload(ElasticWorkload(4), pods);
  EXPECT_THAT(Names(ungated), ElementsAre("p2", "p3"));
  EXPECT_EQ((*ungated)[0], (UngatedPod{{"team", "p2"}, "", {}, {kElastic}}));
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), IsEmpty());
}

TEST(UngateElasticJobs, PodsOfEverySliceAreOnes_W5_4) {
  std::vector<Pod> pods = {ElasticPod("a", {kElastic}), ElasticPod("b", {kElastic}),
                           ElasticPod("c", {kElastic})};
  pods[0].annotations = {{std::string(kWorkloadAnnotation), "w-2"}};
  pods[1].annotations = {{std::string(kWorkloadAnnotation), "w"},
                         {"kueue.x-k8s.io/workload-slice-name", "w"}};
  pods[2].annotations = {{"kueue.x-k8s.io/workload-slice-name", "v"}};
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(4), pods)), ElementsAre("a", "b"));
}

TEST(UngateElasticJobs, APodMadeAgainPassesTheGateAgainAndIsCountedOnce_W5_4) {
  std::vector<Pod> pods = {ElasticPod("a", {}), ElasticPod("b", {}),
                           ElasticPod("b-again", {kElastic})};
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), IsEmpty());
  pods[1].phase = "Failed";
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), ElementsAre("b-again"));
  pods[2].scheduling_gates.clear();
  pods.push_back(ElasticPod("c", {kElastic}));
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), IsEmpty());
}

TEST(UngateElasticJobs, ASliceThatWasReplacedStartsNobody_W5_4) {
  Workload workload = ElasticWorkload(2);
  workload.conditions.push_back({"Finished", "True", "WorkloadSliceReplaced", ""});
  EXPECT_THAT(Names(UngateWorkload(workload, std::vector{ElasticPod("a", {kElastic})})), IsEmpty());
}

TEST(UngateElasticJobs, BothGatesGoTogether_R22_8) {
  Workload workload = ElasticWorkload(3);
  workload.admission->pod_set_assignments[0].topology_assignment = OnNodes({{"n1", 2}, {"n2", 1}});
  Pod sent = ElasticPod("a", {kElastic});  // lost its topology gate before
  sent.node_selector.Set(kHost, "n1");
  const auto ungated = UngateWorkload(
      workload, std::vector{sent, ElasticPod("b", {kElastic, kTopology}),
                            ElasticPod("c", {kTopology}), ElasticPod("d", {kElastic, kTopology})});
  ASSERT_THAT(Names(ungated), ElementsAre("b", "c", "a"));
  EXPECT_EQ((*ungated)[0],
            (UngatedPod{{"team", "b"}, "n1", {{kHost, "n1"}}, {kElastic, kTopology}}));
  EXPECT_EQ((*ungated)[1], (UngatedPod{{"team", "c"}, "n2", {{kHost, "n2"}}, {kTopology}}));
  EXPECT_EQ((*ungated)[2], (UngatedPod{{"team", "a"}, "", {}, {kElastic}}));
}

TEST(UngateElasticJobs, ATopologyGateWithoutAnAssignmentHoldsThePod_W5_4) {
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(3),
                                   std::vector{ElasticPod("a", {kElastic, kTopology})})),
              IsEmpty());
}

TEST(UngateElasticJobs, AnUnconfirmedPodHoldsTheRestBack_W2_7) {
  std::vector<Pod> pods = {ElasticPod("a", {kElastic}), ElasticPod("b", {kElastic})};
  pods[0].ungating_unconfirmed = true;
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), IsEmpty());
  pods[0].scheduling_gates.clear();  // seen without its gate: confirmed
  EXPECT_THAT(Names(UngateWorkload(ElasticWorkload(2), pods)), ElementsAre("b"));
}

TEST(UngateWorkload, NothingBeforeAdmission_R22_1) {
  Workload workload = LeaderAndWorkers();
  workload.conditions.clear();
  EXPECT_THAT(Ungate(workload, {Of(Gated("w", "1"), "workers")}), IsEmpty());
  workload = LeaderAndWorkers();
  workload.admission.reset();
  EXPECT_THAT(Ungate(workload, {Of(Gated("w", "1"), "workers")}), IsEmpty());
}

TEST(UngateWorkload, PodsOfAnUnhealthyNodeStayGated_R22_7) {
  Workload workload = LeaderAndWorkers();
  workload.unhealthy_nodes = {"n1"};
  EXPECT_THAT(Ungate(workload, {Of(Gated("w1", "1"), "workers"), Of(Gated("w4", "4"), "workers")}),
              ElementsAre(Pair("w4", "n2")));
}

// An admitted workload of one pod set with a pod on each node, and gated pods for them.
struct LargeWorkload {
  explicit LargeWorkload(int size) {
    workload.key = {"team", "large"};
    workload.conditions = {{"Admitted", "True", "", ""}};
    workload.pod_sets.emplace_back().name = "main";
    TopologyAssignment assignment{{kHost}, {}};
    for (int i = 0; i < size; ++i) {
      const std::string number = std::to_string(1'000'000 + i);
      assignment.domains.push_back({{"n" + number}, 1});
      Pod& pod = pods.emplace_back(Gated("p" + number));
      pod.annotations.Set(kWorkloadAnnotation, "large");
      pod.labels.Set(kPodSetLabel, "main");
      workload.unhealthy_nodes.push_back((i % 2 == 0 ? "n" : "other") + number);
    }
    PodSetAssignment& admitted = workload.admission.emplace().pod_set_assignments.emplace_back();
    admitted.name = "main";
    admitted.count = size;
    admitted.topology_assignment = std::move(assignment);
  }
  Workload workload;
  std::vector<Pod> pods;
};

// Fails only by taking minutes where each pod is compared with each unhealthy node.
TEST(UngateWorkload, R22_7_ManyPodsAndManyUnhealthyNodes) {
  constexpr int kPods = 200'000;
  const LargeWorkload large(kPods);
  const auto ungated = UngateWorkload(large.workload, large.pods);
  ASSERT_TRUE(ungated);
  ASSERT_EQ(ungated->size(), kPods / 2);
  EXPECT_EQ(ungated->front().domain, "n1000001");
}

TEST(UngateWorkload, StopsWithItsBudget) {
  const LargeWorkload large(1000);
  WorkBudget small(std::int64_t{10} << 10);
  const auto refused = UngateWorkload(large.workload, large.pods, small);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().error_class, ErrorClass::kExhausted);
  WorkBudget stopped;
  stopped.Stop({ErrorClass::kCancelled, "gone"});
  EXPECT_EQ(UngateWorkload(large.workload, large.pods, stopped).error(),
            (Error{ErrorClass::kCancelled, "gone"}));
}

}  // namespace
}  // namespace espalier::ungater_test
