// One workload from its pod sets to its answer: sections 15 to 17 with the worked examples.
#include "host/engine/workload_placement.hpp"

#include <algorithm>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/states.hpp"

namespace espalier::workload_placement_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::StartsWith;

std::vector<std::string> Answer(const ClusterStateInput& input, const WorkloadRequest& request,
                                const FeatureGates& gates = {}) {
  const ClusterState state = BuildState(input);
  return Texts(Engine(MakeCpuBackend(1), gates).NominateOne(state, request));
}

// --- section 15 ---

TEST(WorkloadPlacementTest, R15_2_LaterPodSetsSeeEarlierOnes) {
  EXPECT_THAT(Answer(Gpus({{"r1/a", 4}, {"r2/b", 4}}),
                     MakeWorkload({MakePodSet(3, Required("rack"), "p0"),
                                   MakePodSet(3, Required("rack"), "p1")})),
              ElementsAre("p0 -> a:3", "p1 -> b:3"));
}

// E18: n1 belongs to both flavors.
struct TwoFlavors {
  TwoFlavors() {
    input = OneFlavor(LevelKeys(2));
    input.nodes = {HostNode("r1/n1", {{"cpu", 4000}, {"pods", 110}}),
                   HostNode("r1/n2", {{"cpu", 4000}, {"pods", 110}}),
                   HostNode("r2/n3", {{"cpu", 3000}, {"pods", 110}})};
    input.nodes[0].labels.Set("fa", "y");
    input.nodes[1].labels.Set("fa", "y");
    input.nodes[0].labels.Set("fb", "y");
    input.nodes[2].labels.Set("fb", "y");
    input.flavors = {{"fa", {{"fa", "y"}}, {}, {}, "default"},
                     {"fb", {{"fb", "y"}}, {}, {}, "default"}};
    PodSetRequest p0 = MakePodSet(3, Required(kHost), "p0");
    p0.flavor = "fa";
    p0.requests = {{"cpu", 1000}};
    PodSetRequest p1 = MakePodSet(2, Required(kHost), "p1");
    p1.flavor = "fb";
    p1.requests = {{"cpu", 1500}};
    request = MakeWorkload({p0, p1});
  }
  ClusterStateInput input;
  WorkloadRequest request;
};

TEST(WorkloadPlacementTest, E18_HostFlavorsShareAssumedUsage) {
  TwoFlavors e18;
  EXPECT_THAT(Answer(e18.input, e18.request), ElementsAre("p0 -> n1:3", "p1 -> n3:2"));
  FeatureGates gates;
  gates.handle_overlapping_flavors = false;
  e18.input.share_usage_between_flavors = false;
  EXPECT_THAT(Answer(e18.input, e18.request, gates), ElementsAre("p0 -> n1:3", "p1 -> n1:2"));
}

TEST(WorkloadPlacementTest, R15_1_FlavorsInNameOrderAnswersInSpecOrder) {
  TwoFlavors e18;
  std::swap(e18.request.pod_sets[0], e18.request.pod_sets[1]);
  EXPECT_THAT(Answer(e18.input, e18.request), ElementsAre("p1 -> n3:2", "p0 -> n1:3"));
}

TEST(WorkloadPlacementTest, R15_3_AssumedUsageOfSiblingsFollowsItsGate) {
  WorkloadRequest request = MakeWorkload({MakePodSet(3, Required("rack"))});
  request.assumed_usage = {{"a", {{"gpu", 2}, {"pods", 2}}}};
  const ClusterStateInput input = Gpus({{"r1/a", 4}, {"r2/b", 4}});
  EXPECT_THAT(Answer(input, request), ElementsAre("main -> b:3"));
  FeatureGates gates;
  gates.handle_overlapping_flavors = false;
  EXPECT_THAT(Answer(input, request, gates), ElementsAre("main -> a:3"));
}

TEST(WorkloadPlacementTest, R15_7_AFailedFlavorDoesNotStopTheNext) {
  TwoFlavors e18;
  e18.request.pod_sets[0].count = 9;
  const auto texts = Answer(e18.input, e18.request);
  ASSERT_EQ(texts.size(), 2u);
  EXPECT_THAT(texts[0], StartsWith("p0 -> topology"));
  EXPECT_EQ(texts[1], "p1 -> n1:2");
}

TEST(WorkloadPlacementTest, UnknownFlavor) {
  WorkloadRequest request = MakeWorkload({MakePodSet(1, Required("rack"))});
  request.pod_sets[0].flavor = "gone";
  EXPECT_THAT(Answer(Gpus({{"r1/a", 4}}), request),
              ElementsAre("main -> Flavor \"gone\" information missing in TAS cache"));
}

// --- groups ---

const std::vector<std::pair<std::string, Amount>> kE9 = {
    {"r1/a", 8}, {"r1/b", 7}, {"r2/c", 8}, {"r2/d", 4}};

WorkloadRequest Group(std::int32_t workers, std::int32_t leaders, const std::string& level) {
  PodSetRequest leader = InGroup(MakePodSet(leaders, Required(level), "leader"), "g");
  leader.requests = {{"gpu", 3}};
  PodSetRequest worker = InGroup(MakePodSet(workers, Required(level), "workers"), "g");
  worker.requests = {{"gpu", 2}};
  return MakeWorkload({leader, worker});
}

TEST(WorkloadPlacementTest, E9_LeaderAndWorkersTogether) {
  EXPECT_THAT(Answer(Gpus(kE9), Group(6, 1, "rack")),
              ElementsAre("leader -> b:1", "workers -> a:4 b:2"));
}

TEST(WorkloadPlacementTest, R15_5_TheLargerMemberIsTheWorkers) {
  WorkloadRequest request = Group(6, 1, "rack");
  std::swap(request.pod_sets[0], request.pod_sets[1]);
  EXPECT_THAT(Answer(Gpus(kE9), request), ElementsAre("workers -> a:4 b:2", "leader -> b:1"));
}

TEST(WorkloadPlacementTest, R15_5_OfEqualMembersTheFirstIsTheWorkers) {
  WorkloadRequest request = Group(1, 1, "rack");
  request.pod_sets[1].topology_request = Required("row");  // a leader's own request is ignored
  EXPECT_THAT(Answer(Gpus({{"r1/a", 5}}), request), ElementsAre("leader -> a:1", "workers -> a:1"));
  std::swap(request.pod_sets[0], request.pod_sets[1]);
  EXPECT_THAT(Answer(Gpus({{"r1/a", 5}}), request),
              ElementsAre("workers -> no requested topology level: row",
                          "leader -> no requested topology level: row"));
}

TEST(WorkloadPlacementTest, R6_9_TheLeaderIsAlwaysOnePod) {
  const auto texts = Answer(Gpus(kE9), Group(6, 4, "rack"));
  EXPECT_THAT(texts, ElementsAre("leader -> b:1", "workers -> a:4 b:2"));
}

TEST(WorkloadPlacementTest, R15_6_AFailedGroupFailsEveryMemberAndEndsTheFlavor) {
  WorkloadRequest request = Group(9, 1, "rack");
  request.pod_sets.insert(request.pod_sets.begin(), MakePodSet(1, Required("rack"), "before"));
  request.pod_sets.push_back(MakePodSet(1, Required("rack"), "after"));
  const auto texts = Answer(Gpus(kE9), request);
  ASSERT_EQ(texts.size(), 3u);  // no answer for `after`
  EXPECT_EQ(texts[0], "before -> d:1");
  EXPECT_THAT(texts[1], StartsWith("leader -> topology"));
  EXPECT_EQ(texts[1].substr(10), texts[2].substr(11));  // the same text
}

TEST(WorkloadPlacementTest, R15_5_MoreThanTwoMembersAreUndefined) {
  WorkloadRequest request = Group(1, 1, "rack");
  request.pod_sets.push_back(InGroup(MakePodSet(1, Required("rack"), "third"), "g"));
  const auto texts = Answer(Gpus(kE9), request);
  ASSERT_EQ(texts.size(), 3u);
  for (const std::string& text : texts) EXPECT_THAT(text, HasSubstr("undefined upstream"));
}

TEST(WorkloadPlacementTest, R15_4_AGroupNamedLikeAnIndexTakesThatPodSetIn) {
  WorkloadRequest request;
  request.pod_sets.push_back(MakePodSet(1, Required("rack"), "alone"));
  request.pod_sets.push_back(InGroup(MakePodSet(1, Required("rack"), "leader"), "0"));
  request.pod_sets.push_back(InGroup(MakePodSet(1, Required("rack"), "workers"), "0"));
  const auto texts = Answer(Gpus(kE9), request);
  ASSERT_EQ(texts.size(), 3u);
  for (const std::string& text : texts) {
    EXPECT_THAT(text, HasSubstr("pod set group \"0\" has 3 pod sets, more than two"));
  }
}

TEST(WorkloadPlacementTest, R15_8_FirstFailureInSpecOrder) {
  const ClusterState state = BuildState(Gpus(kE9));
  const WorkloadRequest request = Group(9, 1, "rack");
  const auto answer = Engine(MakeCpuBackend(1), {}).NominateOne(state, request);
  ASSERT_NE(answer.FirstFailure(), nullptr);
  EXPECT_EQ(answer.FirstFailure()->name, "leader");
}

// --- texts through the whole engine ---

TEST(WorkloadPlacementTest, E4_EveryExclusionKind) {
  ClusterStateInput input = OneFlavor(LevelKeys(2));
  const auto add = [&](const std::string& path, Resources free, StringMap labels,
                       std::vector<Taint> taints = {}) {
    Node node = HostNode(path, std::move(free));
    for (const auto& [key, value] : labels) node.labels.Set(key, value);
    node.taints = std::move(taints);
    input.nodes.push_back(node);
  };
  const StringMap fine = {{"disk", "ssd"}, {"zone", "z1"}};
  add("r1/n1", {{"cpu", 8000}, {"memory", 64}, {"pods", 10}}, fine,
      {{"note", "", "PreferNoSchedule"}, {"maint", "true", "NoSchedule"}});
  add("r1/n2", {{"cpu", 8000}, {"memory", 64}, {"pods", 10}}, {{"zone", "z1"}});
  add("r1/n3", {{"cpu", 8000}, {"memory", 64}, {"pods", 10}}, {{"disk", "ssd"}, {"zone", "z2"}});
  add("r1/n4", {{"cpu", 2500}, {"memory", 64}, {"pods", 10}}, fine);
  add("r1/n5", {{"cpu", 500}, {"memory", 64}, {"pods", 0}}, fine);
  add("r2/n6", {{"cpu", 8000}, {"memory", 7}, {"pods", 0}}, fine);
  PodSetRequest pod_set = MakePodSet(5, Required("rack"));
  pod_set.requests = {{"cpu", 1000}, {"memory", 8}};
  pod_set.pod_template.node_selector = {{"disk", "ssd"}};
  pod_set.pod_template.affinity.required = {{{{"zone", "In", {"z1"}}}, {}}};
  EXPECT_THAT(
      Answer(input, MakeWorkload({pod_set})),
      ElementsAre("main -> topology \"default\" allows to fit only 2 out of 5 pod(s). Total "
                  "nodes: 6; excluded: affinity: 1, nodeSelector: 1, resource \"cpu\": 1, "
                  "resource \"memory\": 1, taint \"maint=true:NoSchedule\": 1"));
}

TEST(WorkloadPlacementTest, E8_MultiLayerText) {
  const auto input = Gpus({{"d1/b1/r1/a1", 5},
                           {"d1/b1/r1/a2", 3},
                           {"d1/b1/r2/a3", 3},
                           {"d1/b1/r2/a4", 1},
                           {"d1/b2/r3/a5", 8},
                           {"d1/b2/r4/a6", 0}});
  const auto request =
      MakeWorkload({MakePodSet(24, Required("dc", {{"block", 8}, {"rack", 4}, {kHost, 2}}))});
  EXPECT_THAT(Answer(input, request),
              ElementsAre("main -> topology \"default\" doesn't allow to fit; 1/3 slice(s) fit on "
                          "level block; 3/6 slice(s) fit on level rack; 8/12 slice(s) fit on level "
                          "kubernetes.io/hostname. Total nodes: 6; excluded: resource \"gpu\": 1"));
}

TEST(WorkloadPlacementTest, R7_1_NoNodeFilterOutsideHostTopologies) {
  ClusterStateInput input = Gpus({{"b1/r1/n1", 2}, {"b1/r1/n2", 2}});
  input.topologies[0].levels = {"block", "rack"};
  for (Node& node : input.nodes) node.taints = {{"gpu", "", "NoSchedule"}};
  PodSetRequest pod_set = MakePodSet(4, Required("rack"));
  pod_set.pod_template.node_selector = {{"disk", "ssd"}};
  EXPECT_THAT(Answer(input, MakeWorkload({pod_set})), ElementsAre("main -> b1,r1:4"));
  pod_set.count = 5;  // one leaf, though two nodes
  EXPECT_THAT(Answer(input, MakeWorkload({pod_set})),
              ElementsAre("main -> topology \"default\" allows to fit only 4 out of 5 pod(s)"));
}

TEST(WorkloadPlacementTest, E16_ConsumedAffinityScoresReadZero) {
  ClusterStateInput input =
      Gpus({{"r1/a1", 4}, {"r1/a2", 4}, {"r2/b1", 1}, {"r2/b2", 2}, {"r0/c1", 3}});
  for (const std::size_t i : {1, 2, 3}) input.nodes[i].labels.Set("fast", "y");
  input.nodes[3].labels.Set("faster", "y");
  PodSetRequest pod_set = MakePodSet(3, Required("rack"));
  pod_set.pod_template.affinity.preferred = {{10, {{{"fast", "Exists", {}}}, {}}},
                                             {5, {{{"faster", "Exists", {}}}, {}}}};
  WorkloadRequest request = MakeWorkload({pod_set});
  FeatureGates gates;
  gates.respect_node_affinity_preferred = true;
  EXPECT_THAT(Answer(input, request, gates), ElementsAre("main -> b1:1 b2:2"));
  request.affinity_scores_consumed = true;
  EXPECT_THAT(Answer(input, request, gates), ElementsAre("main -> c1:3"));
}

TEST(WorkloadPlacementTest, R6_9_FewerPodsThanASliceIsAnEmptySuccess) {
  EXPECT_THAT(
      Answer(Gpus({{"r1/a", 4}}), MakeWorkload({MakePodSet(1, Required("rack", {{kHost, 2}}))})),
      ElementsAre("main -> "));
}

// --- section 16 ---

class ResizeTest : public ::testing::Test {
 protected:
  ResizeTest() { gates_.elastic_jobs_via_workload_slices_with_tas = true; }

  std::vector<std::string> Resize(std::int32_t count, const ClusterStateInput& input) const {
    PodSetRequest pod_set = MakePodSet(count, Unconstrained());
    pod_set.previous_assignment = OnHosts({{"h2", 2}, {"h1", 1}});
    return Answer(input, MakeWorkload({pod_set}), gates_);
  }

  ClusterStateInput hosts_ = Gpus({{"h1", 3}, {"h2", 4}, {"h3", 2}});
  FeatureGates gates_;
};

TEST_F(ResizeTest, E12_UpDownAndSame) {
  EXPECT_THAT(Resize(5, hosts_), ElementsAre("main -> h1:3 h2:2"));
  EXPECT_THAT(Resize(4, hosts_), ElementsAre("main -> h1:2 h2:2"));
  EXPECT_THAT(Resize(3, hosts_), ElementsAre("main -> h2:2 h1:1"));  // not sorted again
  EXPECT_THAT(Resize(2, hosts_), ElementsAre("main -> h2:2"));
  EXPECT_THAT(Resize(0, hosts_), ElementsAre("main -> "));
}

TEST_F(ResizeTest, E12_StaleIsAFreshPlacement) {
  EXPECT_THAT(Resize(5, Gpus({{"h1", 3}, {"h3", 5}})), ElementsAre("main -> h3:5"));
}

TEST_F(ResizeTest, R16_1_WithoutTheGateThePastDoesNotCount) {
  gates_.elastic_jobs_via_workload_slices_with_tas = false;
  EXPECT_THAT(Resize(3, hosts_), ElementsAre("main -> h1:3"));
}

TEST_F(ResizeTest, R16_4_FailureNamesTheDelta) {
  EXPECT_THAT(Resize(10, hosts_),
              ElementsAre("main -> topology \"default\" allows to fit only 6 out of 7 pod(s)"));
}

TEST_F(ResizeTest, R16_4_LeaderKeepsItsPlaceOrHasNoEntry) {
  PodSetRequest workers = InGroup(MakePodSet(4, Unconstrained(), "workers"), "g");
  workers.previous_assignment = OnHosts({{"h2", 2}});
  PodSetRequest leader = InGroup(MakePodSet(1, Unconstrained(), "leader"), "g");
  leader.previous_assignment = OnHosts({{"h1", 1}});
  EXPECT_THAT(Answer(hosts_, MakeWorkload({workers, leader}), gates_),
              ElementsAre("workers -> h1:2 h2:2", "leader -> h1:1"));
  workers.count = 20;
  const auto failed = Answer(hosts_, MakeWorkload({workers, leader}), gates_);
  ASSERT_EQ(failed.size(), 1u);
  EXPECT_THAT(failed[0], StartsWith("workers -> topology"));
}

TEST_F(ResizeTest, R16_6_LeaderWithoutAPastIsUndefinedOnTheWayDown) {
  PodSetRequest workers = InGroup(MakePodSet(2, Unconstrained(), "workers"), "g");
  workers.previous_assignment = OnHosts({{"h2", 2}});
  const PodSetRequest leader = InGroup(MakePodSet(1, Unconstrained(), "leader"), "g");
  for (const std::string& text : Answer(hosts_, MakeWorkload({workers, leader}), gates_)) {
    EXPECT_THAT(text, HasSubstr("undefined upstream"));
  }
}

// --- section 17 ---

class ReplacementTest : public ::testing::Test {
 protected:
  // E11: x3 of rack r2 is gone; two units of x1, x2 and x4 are this workload's own.
  ReplacementTest() {
    input_ =
        Gpus({{"b1/r1/x1", 4}, {"b1/r1/x2", 4}, {"b1/r2/x4", 6}, {"b1/r2/x5", 3}, {"b1/r3/x6", 9}});
    for (const char* host : {"x1", "x2", "x4"}) {
      input_.tas_usage.push_back({"tas", host, {{"gpu", 2}, {"pods", 2}}});
    }
    request_ = MakeWorkload({MakePodSet(8, Required("block", {{"rack", 4}, {kHost, 2}}))});
    Fail("x3", OnHosts({{"x1", 2}, {"x2", 2}, {"x3", 2}, {"x4", 2}}));
  }

  void Fail(const std::string& node, TopologyAssignment admitted) {
    PodSetAssignment assignment;
    assignment.name = "main";
    assignment.topology_assignment = std::move(admitted);
    request_.replacement = ReplacementContext{{node}, {assignment}, false};
  }
  std::vector<std::string> Replace(const FeatureGates& gates = {}) const {
    return Answer(input_, request_, gates);
  }

  ClusterStateInput input_;
  WorkloadRequest request_;
};

TEST_F(ReplacementTest, E11_InsideTheRackWhoseSliceBroke) {
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:2 x2:2 x4:2 x5:2"));
}

TEST_F(ReplacementTest, E11_AnywhereInTheRequiredBlockWithoutSlices) {
  request_.pod_sets[0].topology_request = Required("block");
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:4 x2:2 x4:2"));
}

// Both racks lack two pods of a slice of four.
TEST_F(ReplacementTest, R17_6_OfSeveralBrokenSlicesTheOneOfTheSmallestDomain) {
  request_.pod_sets[0].topology_request = Required("block", {{"rack", 4}});
  Fail("x3", OnHosts({{"x3", 2}, {"x4", 2}, {"x1", 2}}));
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:4 x4:2"));
}

TEST_F(ReplacementTest, E11_StaleDomain) {
  input_.nodes.erase(input_.nodes.begin());
  EXPECT_THAT(Replace(),
              ElementsAre("main -> Cannot replace the node, because the existing "
                          "topologyAssignment is invalid, as it contains the stale domain x1"));
}

TEST_F(ReplacementTest, R17_1_PodSetsWithoutAnAssignmentGetNoAnswer) {
  request_.pod_sets.push_back(MakePodSet(1, Required("block"), "other"));
  EXPECT_EQ(Replace().size(), 1u);
  request_.replacement->admitted.clear();
  EXPECT_THAT(Replace(), IsEmpty());
}

TEST_F(ReplacementTest, R17_2_PodOwnedWorkloadsStayAsTheyAre) {
  request_.replacement->owned_by_single_pod = true;
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:2 x2:2 x3:2 x4:2"));
  FeatureGates gates;
  gates.skip_reassignment_for_pod_owned_workloads = false;
  EXPECT_THAT(Replace(gates), ElementsAre("main -> x1:2 x2:2 x4:2 x5:2"));
}

// Profile espalier: all unhealthy nodes of the workload at once.
class JointReplacementTest : public ReplacementTest {
 protected:
  // x1 and x3 fail; of the slices of four per rack and two per host, r1 and r2 keep a half each.
  void SetUp() override { FailAll({"x1", "x3"}); }

  void FailAll(std::vector<std::string> nodes) {
    for (Node& node : input_.nodes) {
      if (std::ranges::count(nodes, node.name) > 0) node.ready = false;
    }
    request_.replacement->unhealthy_nodes = std::move(nodes);
    request_.replacement->joint = true;
  }
};

TEST_F(JointReplacementTest, MakesEachBrokenSliceWholeWhereItIs) {
  EXPECT_THAT(Replace(), ElementsAre("main -> x2:4 x4:2 x5:2"));
}

TEST_F(JointReplacementTest, R17_3_TheFirstNodeAloneWithoutIt) {
  request_.replacement->joint = false;  // and the second is a stale domain then
  EXPECT_THAT(Replace(), ElementsAre(HasSubstr("it contains the stale domain x3")));
}

TEST_F(JointReplacementTest, WholeSlicesStayInTheRequiredDomain) {
  input_ = Gpus({{"b1/r1/x1", 4}, {"b1/r2/x4", 4}, {"b2/r3/x6", 8}, {"b2/r4/x7", 8}});
  input_.tas_usage.push_back({"tas", "x1", {{"gpu", 4}, {"pods", 4}}});
  Fail("", OnHosts({{"x1", 4}, {"x2", 4}, {"x3", 4}}));
  request_.pod_sets[0].count = 12;
  FailAll({"x2", "x3"});
  // Two slices are gone as a whole; b1 has room for one (R18.6).
  EXPECT_THAT(Replace(), ElementsAre(HasSubstr("; 1/2 slice(s) fit on level rack; 2/4 slice(s) fit "
                                               "on level kubernetes.io/hostname.")));
  input_.nodes.push_back(HostNode("b1/r5/x8", {{"gpu", 5}, {"pods", 110}}));
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:4 x4:4 x8:4"));
}

TEST_F(JointReplacementTest, NothingLeftIsAPlacementLikeTheFirst) {
  Fail("", OnHosts({{"x1", 4}, {"x3", 4}}));
  FailAll({"x1", "x3"});
  input_.tas_usage.clear();
  // Rack r2 has room for one slice of four (6 + 3 by twos is 8: two slices), r3 for two.
  EXPECT_THAT(Replace(), ElementsAre("main -> x4:6 x5:2"));
}

TEST_F(JointReplacementTest, FailsWhereABrokenSliceHasNoRoom) {
  input_.nodes.erase(input_.nodes.begin() + 3);  // x5
  input_.tas_usage.push_back({"tas", "x4", {{"gpu", 3}, {"pods", 3}}});
  EXPECT_THAT(Replace(), ElementsAre(HasSubstr("doesn't allow to fit any of 1 slice(s)")));
}

TEST_F(JointReplacementTest, R17_8_SliceOnlyKeepsItsSlices) {
  request_.pod_sets[0].topology_request = SliceOnly({{"rack", 4}});
  EXPECT_THAT(Replace(), ElementsAre("main -> x2:4 x4:2 x5:2"));
}

TEST_F(JointReplacementTest, PodSetsOnOneOrNoFailedNodeAreAnsweredAsEver) {
  request_.replacement->unhealthy_nodes = {"x9", "x3"};
  EXPECT_THAT(Replace(), ElementsAre("main -> Cannot replace the node, because the existing "
                                     "topologyAssignment is invalid, as it contains the stale "
                                     "domain x1"));
  input_.nodes[0].ready = true;
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:2 x2:2 x4:2 x5:2"));
  request_.replacement->unhealthy_nodes = {"x9", "x8"};
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:2 x2:2 x3:2 x4:2"));
}

TEST_F(JointReplacementTest, RefusesAnAssignmentThatNeverHadWholeSlices) {
  Fail("", OnHosts({{"x1", 1}, {"x2", 2}, {"x3", 1}, {"x4", 1}}));
  FailAll({"x1", "x3"});
  EXPECT_THAT(Replace(), ElementsAre("main -> cannot replace the pods of the unhealthy nodes: "
                                     "with them, the existing topologyAssignment has no whole "
                                     "slices"));
}

TEST_F(ReplacementTest, R17_10_NothingToReplace) {
  Fail("x9", OnHosts({{"x1", 2}, {"x2", 2}}));
  EXPECT_THAT(Replace(),
              ElementsAre("main -> cannot find replacement assignment for unhealthy node: x9"));
}

TEST_F(ReplacementTest, R17_7_RequiredHostMatchesNothing) {
  request_.pod_sets[0].topology_request = Required(kHost);
  EXPECT_THAT(Replace(), ElementsAre("main -> topology \"default\" doesn't allow to fit any of 2 "
                                     "pod(s). Total nodes: 5; excluded: topologyDomain: 5"));
}

TEST_F(ReplacementTest, R17_9_OutsideTheDomainIsCounted) {
  for (Node& node : input_.nodes) {
    if (node.name == "x5") node.ready = false;
  }
  input_.tas_usage.push_back({"tas", "x4", {{"gpu", 4}, {"pods", 4}}});
  EXPECT_THAT(Replace(), ElementsAre("main -> topology \"default\" doesn't allow to fit any of 1 "
                                     "slice(s). Total nodes: 4; excluded: resource \"gpu\": 1, "
                                     "topologyDomain: 3"));
}

TEST_F(ReplacementTest, R17_8_SliceOnlyThatLosesItsSlicesHasNoLevel) {
  request_.pod_sets[0].topology_request = SliceOnly({{"rack", 4}});
  EXPECT_THAT(Replace(), ElementsAre("main -> topology level not specified"));
}

// Each domain that stays is part of the answer.
TEST_F(ReplacementTest, WhatStaysIsChargedBeforeItIsAskedFor) {
  constexpr std::int64_t kKept = 1000;
  input_ = Gpus({{"b1/r1/x3", 4}});
  TopologyAssignment admitted = OnHosts({{"x9", 1}});
  for (int i = 0; i < kKept; ++i) {
    const std::string host = fmt::format("y{}", i);
    input_.nodes.push_back(HostNode("b1/r1/" + host, {{"gpu", 4}, {"pods", 110}}));
    admitted.domains.push_back({{host}, 1});
  }
  request_ = MakeWorkload({MakePodSet(kKept + 1, Required("block"))});
  Fail("x9", admitted);
  const ClusterState state = BuildState(input_);
  const FeatureGates gates;
  WorkBudget budget;
  WorkloadPlacement placement(request_, state, gates, budget);
  ASSERT_NE(placement.NextJob(), nullptr);
  EXPECT_GE(budget.charged(), kKept * 160);
  WorkBudget small(kKept * 100);
  EXPECT_EQ(WorkloadPlacement(request_, state, gates, small).NextJob(), nullptr);
  EXPECT_EQ(small.Check().error().error_class, ErrorClass::kExhausted);
}

TEST_F(ReplacementTest, R17_9_SimulateEmptyDoesNotApply) {
  request_.simulate_empty = true;
  request_.pod_sets[0].topology_request = Required("block");
  EXPECT_THAT(Replace(), ElementsAre("main -> x1:4 x2:2 x4:2"));
}

TEST(WorkloadPlacementTest, AsksNothingOnceItsBudgetIsStopped) {
  const ClusterState state = BuildState(Gpus({{"r/h1", 4}}));
  const FeatureGates gates;
  const WorkloadRequest request =
      MakeWorkload({MakePodSet(1, Unconstrained(), "a"), MakePodSet(1, Unconstrained(), "b")});
  WorkBudget budget;
  WorkloadPlacement placement(request, state, gates, budget);
  ASSERT_NE(placement.NextJob(), nullptr);
  placement.Accept({.status = PlacementStatus::kPlaced});
  budget.Stop({ErrorClass::kCancelled, "gone"});
  EXPECT_EQ(placement.NextJob(), nullptr);
}

TEST(WorkloadPlacementTest, AssumedUsageIsChargedAsLongAsItIsAsked) {
  const ClusterState state = BuildState(Gpus({{"r/h1", 4}, {"r/h2", 4}}));
  const FeatureGates gates;
  WorkloadRequest request = MakeWorkload({MakePodSet(1, Unconstrained())});
  for (int i = 0; i < 1000; ++i) {
    request.assumed_usage.push_back({std::to_string(i), {{"gpu", 1}}});
  }
  WorkBudget budget;
  {
    WorkloadPlacement placement(request, state, gates, budget);
    const std::int64_t before = budget.charged();
    ASSERT_NE(placement.NextJob(), nullptr);
    EXPECT_GE(budget.charged() - before, 1000 * 2 * 8);
    placement.Accept({.status = PlacementStatus::kPlaced});
    EXPECT_EQ(placement.NextJob(), nullptr);
    EXPECT_LT(budget.charged() - before, 1000 * 2 * 8);
  }
}

}  // namespace
}  // namespace espalier::workload_placement_test
