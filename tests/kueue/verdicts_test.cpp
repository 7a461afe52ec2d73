// Tests whether a workload fits, on which of its flavors, and whether it ever will: one answer
// wherever it is asked.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/cycle/room_holders.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/planning/planned_answers.hpp"
#include "host/kueue/validation/certificate.hpp"
#include "host/kueue/validation/pods_without_node.hpp"
#include "host/what_if/empty_nodes.hpp"
#include "tests/kueue/scheduling_cycle_fixture.hpp"
#include "tests/questions/explain_in.hpp"

namespace espalier::verdicts_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

class VerdictsTest : public SchedulingCycleTest {
 protected:
  // A second flavor for the queue: b1 and b2 of a pool of their own.
  void SplitIntoTwoFlavors() {
    cluster_.flavors.push_back(MakeFlavor("gpu2", "default"));
    for (Node& node : cluster_.nodes) {
      if (node.labels["rack"] == "r2") node.labels.Set("pool", "gpu2");
    }
    cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu", "gpu2"});
  }

  void RunOn(const std::string& name, const std::string& flavor,
             const std::vector<std::pair<std::string, std::int32_t>>& hosts) {
    std::int32_t pods = 0;
    for (const auto& [host, count] : hosts) pods += count;
    Admit(Add(name, pods), "gpu-queue", flavor, OnHosts(hosts));
  }

  void AddPod(const std::string& node, Resources requests, const std::string& owner_kind,
              std::int64_t priority = 0) {
    Pod& pod = cluster_.pods.emplace_back();
    pod.key = {"other", "pod-" + std::to_string(cluster_.pods.size())};
    pod.node_name = node;
    pod.phase = "Running";
    pod.requests = std::move(requests);
    pod.owners = {{"apps/v1", owner_kind, "owner", "", true}};
    pod.priority = priority;
  }

  struct Answered {
    PlacementPlan plan;
    PlannedAnswers planned;

    std::string FlavorOf(std::size_t i) const {
      return FlavorsText(std::get<WorkloadRequest>(plan.workloads[i].plan));
    }
    bool Fits(std::size_t i) const { return planned.answers[i].FirstFailure() == nullptr; }
  };

  // Places all pending workloads in order, as `espalier place` does.
  Answered PlaceAll() {
    auto plan = PlanPlacement(cluster_, {.gates = gates_});
    const auto state = ClusterState::Build(plan->state);
    const Engine engine(MakeCpuBackend(1), gates_);
    EmptyNodes empty(*state, plan->state, engine);
    auto planned = AnswerPlan(
        *plan,
        [&](const std::vector<WorkloadRequest>& requests) {
          ClusterState scratch = state->Branch();
          return Result<std::vector<WorkloadAnswer>>(engine.PlaceInOrder(scratch, requests));
        },
        [&](std::vector<WorkloadRequest> requests) { return empty.Nominate(std::move(requests)); });
    return {*std::move(plan), *std::move(planned)};
  }

  // Explains the only pending workload on the first of its flavors.
  Certificate ExplainIt() {
    const auto plan = PlanPlacement(cluster_, {.gates = gates_});
    const auto& request = std::get<WorkloadRequest>(plan->workloads.front().plan);
    return ExplainIn(cluster_, request, Engine(MakeCpuBackend(1), gates_)).value();
  }
};

TEST_F(VerdictsTest, EveryFlavorThatTheQueueTriesIsAsked_R21_12) {
  SplitIntoTwoFlavors();
  RunOn("running", "gpu", {{"a1", 4}, {"a2", 4}});
  Add("pending", 8);
  const Answered answered = PlaceAll();
  ASSERT_TRUE(answered.Fits(0));
  EXPECT_EQ(answered.FlavorOf(0), "gpu2");
  EXPECT_EQ(answered.planned.answers[0].pod_sets[0].flavor, "gpu2");
}

TEST_F(VerdictsTest, WhatGoesToTheSecondFlavorTakesItFromThoseBehind) {
  SplitIntoTwoFlavors();
  for (const char* name : {"first", "second", "third"}) Add(name, 8);
  const Answered answered = PlaceAll();
  EXPECT_EQ(answered.FlavorOf(0), "gpu");
  EXPECT_EQ(answered.FlavorOf(1), "gpu2");
  ASSERT_FALSE(answered.Fits(2));
  EXPECT_EQ(answered.planned.verdicts[2], NestedStatus::kNotNow);
  EXPECT_THAT(OtherReasons(answered.plan.workloads[2], answered.planned.other_answers[2]),
              ElementsAre(HasSubstr("on gpu2: topology \"default\" doesn't allow to fit")));
}

TEST_F(VerdictsTest, NeverIsOfAllFlavors) {
  SplitIntoTwoFlavors();
  cluster_.nodes[2].allocatable = {{"cpu", 4000}, {"gpu", 16}, {"pods", 40}};
  RunOn("running", "gpu2", {{"b1", 4}});
  Add("pending", 16);  // no rack of the first flavor ever holds as many
  const Answered answered = PlaceAll();
  ASSERT_TRUE(answered.Fits(0));
  EXPECT_EQ(answered.FlavorOf(0), "gpu2");
  cluster_.nodes[2].allocatable.Set("gpu", 14);
  const Answered later = PlaceAll();
  ASSERT_FALSE(later.Fits(0));
  EXPECT_EQ(later.planned.verdicts[0], NestedStatus::kNotNow);
  EXPECT_EQ(later.FlavorOf(0), "gpu2") << "the one whose nodes could hold it";
  EXPECT_EQ(later.planned.other_verdicts[0], Verdicts{NestedStatus::kNever});
}

TEST_F(VerdictsTest, EmptyNodesHavePodsOfDaemonSetsAlone) {
  for (const char* node : {"a1", "a2"}) AddPod(node, {{"gpu", 4}}, "ReplicaSet");
  cluster_.nodes.resize(2);
  Add("pending", 8);
  EXPECT_EQ(PlaceAll().planned.verdicts[0], NestedStatus::kNotNow);
  EXPECT_FALSE(ExplainIt().never);
  AddPod("a1", {{"cpu", 100}, {"gpu", 1}}, "DaemonSet");
  EXPECT_EQ(PlaceAll().planned.verdicts[0], NestedStatus::kNever);
  EXPECT_TRUE(ExplainIt().never);
}

TEST_F(VerdictsTest, PodsThatNeverEndAreAPartOfTheOthers) {
  AddPod("a1", {{"cpu", 300}}, "ReplicaSet");
  AddPod("a1", {{"cpu", 100}}, "DaemonSet");
  AddPod("a1", {{"cpu", 50}}, "Node");
  EXPECT_THAT(
      NonTasUsage(cluster_.pods),
      ElementsAre(NodeUsage{"a1", {{"cpu", 450}, {"pods", 3}}, {{"cpu", 150}, {"pods", 2}}}));
}

TEST_F(VerdictsTest, TwoPodsOfDifferentPodSetsDoNotShareASlot) {
  cluster_.nodes.resize(1);
  cluster_.nodes[0].allocatable.Set("pods", 1);
  cluster_.workloads.push_back(MakeWorkload(
      "pending", "gpu",
      {MakePodSet("one", 1, {{"cpu", 1000}}), MakePodSet("two", 1, {{"cpu", 500}, {"gpu", 1}})}));
  EXPECT_EQ(PlaceAll().planned.verdicts[0], NestedStatus::kNever);
  EXPECT_TRUE(ExplainIt().never);
}

TEST_F(VerdictsTest, LargePodsOfSeveralPodSetsAreCountedTogether) {
  cluster_.nodes.resize(2);  // with 4 gpu each
  const auto pod_set = [](const char* name, std::int32_t pods, Amount gpu) {
    return MakePodSet(name, pods, {{"gpu", gpu}}, Unconstrained());
  };
  cluster_.workloads.push_back(MakeWorkload(
      "pending", "gpu", {pod_set("small", 1, 1), pod_set("large", 1, 3), pod_set("more", 2, 4)}));
  EXPECT_EQ(PlaceAll().planned.verdicts[0], NestedStatus::kNever) << "three of 3 and more";
}

TEST_F(VerdictsTest, AnUncoveredRequestOfNothingIsNone) {
  Workload& workload = Add("pending", 2);
  workload.pod_sets[0].pod_template.requests.Set("example.com/fpga", 0);
  EXPECT_TRUE(PlaceAll().Fits(0));
  EXPECT_THAT(Lines(Run()), ElementsAre("1 pending assumed"));
  workload.pod_sets[0].pod_template.requests.Set("example.com/fpga", 1);
  EXPECT_THAT(Lines(Run()), ElementsAre("1 pending not-admitted"));
}

TEST_F(VerdictsTest, AWorkloadOfOnePodKeepsItsFailedNode_R17_2) {
  RunOn("running", "gpu", {{"a1", 1}});
  Workload& workload = cluster_.workloads[0];
  workload.pod_sets[0].topology_request = Unconstrained();
  workload.owners = {{"v1", "Pod", "p", "", true}};
  workload.unhealthy_nodes = {"a1"};
  cluster_.nodes[0].ready = false;
  const SchedulingCyclesResult kept = Run();
  EXPECT_THAT(Lines(kept), ElementsAre("1 running kept"));
  EXPECT_THAT(kept.decisions[0].reason, HasSubstr("a1 failed"));
  workload.owners = {{"batch/v1", "Job", "j", "", true}};
  EXPECT_THAT(Lines(Run()), ElementsAre("1 running replaced"));
}

TEST_F(VerdictsTest, WhatRulesOutNodesAndWhatWouldHelp) {
  Workload& workload = Add("pending", 8);
  workload.pod_sets[0].pod_template.node_selector = {{"zone", "gone"}};
  const Certificate found = ExplainIt();
  ASSERT_EQ(found.near_miss->ruled_out.size(), 1U);
  EXPECT_EQ(found.near_miss->ruled_out[0].by, "nodeSelector zone=gone");
  EXPECT_EQ(found.near_miss->ruled_out[0].nodes, 4) << "of all racks, as none is nearer";
  EXPECT_EQ(found.near_miss->ruled_out[0].remedy, "none of the nodes has this label");
  EXPECT_THAT(found.changes.without, ElementsAre("nodeSelector zone=gone"));
}

TEST_F(VerdictsTest, ATolerationThatWouldHelp) {
  for (Node& node : cluster_.nodes) node.taints = {{"team", "a", "NoSchedule"}};
  Add("pending", 8);
  const Certificate found = ExplainIt();
  ASSERT_EQ(found.near_miss->ruled_out.size(), 1U);
  EXPECT_EQ(found.near_miss->ruled_out[0].by, "taint team=a:NoSchedule");
  EXPECT_THAT(found.near_miss->ruled_out[0].remedy,
              HasSubstr("{key: team, operator: Equal, value: a, effect: NoSchedule}"));
  EXPECT_THAT(found.changes.tolerated, ElementsAre("team=a:NoSchedule"));
}

TEST_F(VerdictsTest, NodesThatAreLeftOutAndComeBackTogether) {
  cluster_.nodes[0].ready = false;
  cluster_.nodes[1].unschedulable = true;
  cluster_.nodes.resize(3);
  Add("pending", 8);
  const Certificate found = ExplainIt();
  EXPECT_THAT(found.left_out,
              ElementsAre(LeftOutNodes{"not ready", {"a1"}}, LeftOutNodes{"cordoned", {"a2"}}));
  EXPECT_THAT(found.changes.repaired, IsEmpty());
  EXPECT_THAT(found.changes.repaired_together, ElementsAre("a1", "a2"));
}

TEST_F(VerdictsTest, NodesOfAFlavorThatHasNoneLeftMayComeBack) {
  cluster_.nodes.resize(1);
  cluster_.nodes[0].unschedulable = true;
  Add("pending", 4);
  const Certificate found = ExplainIt();
  EXPECT_TRUE(found.never);
  EXPECT_THAT(found.changes.repaired, ElementsAre("a1"));
}

TEST_F(VerdictsTest, ALabelThatIsMissing) {
  cluster_.topologies[0].levels = {"block", kRack, std::string(kHostnameLabel)};
  for (Node& node : cluster_.nodes) node.labels.Set("block", "b");
  cluster_.nodes[1].labels.Erase("block");
  cluster_.nodes.resize(2);
  Add("pending", 8);
  const Certificate found = ExplainIt();
  EXPECT_THAT(found.left_out, ElementsAre(LeftOutNodes{"without the label block", {"a2"}}));
  EXPECT_THAT(found.changes.labelled, ElementsAre(LabelledNodes{"block", "b", {"a2"}}));
}

TEST_F(VerdictsTest, SmallerSlicesLowerRequestsAndAnotherFlavor) {
  cluster_.flavors.push_back(MakeFlavor("other", "default"));
  cluster_.nodes.push_back(
      MakeNode("c1", "r3", {{"cpu", 9000}, {"gpu", 9}, {"pods", 10}}, "other"));
  TopologyRequest request = Unconstrained();
  request.slice_constraints = {{std::string(kHostnameLabel), 8}};
  Add("pending", 8, request).pod_sets[0].pod_template.requests = {{"cpu", 1000}, {"gpu", 1}};
  const Certificate found = ExplainIt();
  EXPECT_EQ(found.changes.slice_size, 4);
  EXPECT_THAT(found.changes.other_flavors, ElementsAre("other"));
  EXPECT_THAT(found.changes.lower_requests, IsEmpty()) << "cpu and gpu are short alike";
  cluster_.workloads[0].pod_sets[0].pod_template.requests = {{"cpu", 1000}};
  EXPECT_THAT(ExplainIt().changes.lower_requests, ElementsAre(LowerRequest{"cpu", 500, 1000}));
}

TEST_F(VerdictsTest, PodsThatNoNodeOfTheirRackHolds_R7_1) {
  cluster_.topologies[0].levels = {kRack};
  Workload& workload = Add("pending", 1);
  workload.pod_sets[0].pod_template.requests = {{"gpu", 8}};
  Answered answered = PlaceAll();
  ASSERT_TRUE(answered.Fits(0)) << "as in Kueue";
  PodsWithoutNode without(cluster_, cluster_.nodes);
  const auto& request = std::get<WorkloadRequest>(answered.plan.workloads[0].plan);
  EXPECT_THAT(without.Find(request, answered.planned.answers[0]),
              ElementsAre(HasSubstr("0 of the 1 pod in r1 fit on one of its 2 nodes by itself")));
  const SchedulingCyclesResult cycle = Run();
  EXPECT_THAT(without.Find(cycle.cluster.workloads[0], cycle.decisions[0].assignments),
              ElementsAre(HasSubstr("above the hosts")));
  workload.pod_sets[0].pod_template.requests = {{"gpu", 4}};
  answered = PlaceAll();
  EXPECT_THAT(without.Find(std::get<WorkloadRequest>(answered.plan.workloads[0].plan),
                           answered.planned.answers[0]),
              IsEmpty());
  AddPod("a1", {{"gpu", 1}}, "ReplicaSet", 0);
  AddPod("a2", {{"gpu", 1}}, "ReplicaSet", 0);
  answered = PlaceAll();
  ASSERT_TRUE(answered.Fits(0)) << "as the rack has room for it";
  PodsWithoutNode beside(cluster_, cluster_.nodes);
  EXPECT_THAT(beside.Find(std::get<WorkloadRequest>(answered.plan.workloads[0].plan),
                          answered.planned.answers[0]),
              ElementsAre(HasSubstr("0 of the 1 pod in r1 fit on one of its 2 nodes")));
}

class RoomHoldersTest : public VerdictsTest {
 protected:
  RoomHoldersTest() {
    AddQueue("lent");
    for (std::size_t i : {0U, 2U}) {
      cluster_.cluster_queues[i].cohort = "c";
      cluster_.cluster_queues[i].reclaim_within_cohort = "Any";
    }
    cluster_.cluster_queues[0].resource_groups[0].flavors[0].resources[1].nominal = 16;
    cluster_.cluster_queues[2].resource_groups[0].flavors[0].resources[1].nominal = 2;
  }

  void Lend(const std::string& name, const std::string& host, std::int32_t pods) {
    Admit(Add(name, pods, Required(kRack), "lent"), "lent-queue", "gpu", OnHosts({{host, pods}}));
  }

  RoomHolders Holders(const Workload& workload, std::int64_t pods_below) {
    return FindRoomHolders(cluster_, workload, {.pods_below = pods_below}, gates_);
  }
};

TEST_F(RoomHoldersTest, OfAnyQueueAndOutsideOfKueue) {
  Lend("borrower", "a1", 4);
  RunOn("own", "gpu", {{"b1", 1}});
  AddPod("b2", {{"gpu", 4}}, "ReplicaSet", -100);
  AddPod("b2", {{"cpu", 1}}, "DaemonSet", -100);
  AddPod("b1", {{"gpu", 1}}, "ReplicaSet", 5);
  const Workload workload = MakeWorkload("pending", "gpu", {MakePodSet("main", 8, {{"gpu", 1}})});
  const RoomHolders room = Holders(workload, 5);
  std::vector<std::string> names;
  for (const RoomHolder& holder : room.holders) names.push_back(holder.victim.name);
  EXPECT_THAT(names, ElementsAre("pod other/pod-1", "team/borrower", "team/own"));
  EXPECT_THAT(room.pods_on_nodes, ElementsAre(NodeUsage{"b2", {{"gpu", 4}, {"pods", 1}}}));
  EXPECT_THAT(room.pods_on_leaves,
              ElementsAre(FlavorLeafUsage{"gpu", "b2", {{"gpu", 4}, {"pods", 1}}}));
  EXPECT_EQ(room.pods_elsewhere, 0u);
}

TEST_F(RoomHoldersTest, KueuesRuleWhereItApplies) {
  Lend("one", "a1", 2);
  Lend("two", "a2", 2);
  Lend("three", "b1", 1);
  RunOn("own", "gpu", {{"b2", 1}});
  const Workload workload =
      MakeWorkload("pending", "gpu", {MakePodSet("main", 8, {{"gpu", 1}})}, 0, 10);
  const RoomHolders room = Holders(workload, 0);
  WorkloadRequest request;
  request.pod_sets = {{.name = "main", .flavor = "gpu", .count = 8, .requests = {{"gpu", 1}}}};
  const auto rules = [&](const std::vector<std::string>& names) {
    std::vector<const RoomHolder*> holders;
    for (const std::string& name : names) {
      for (const RoomHolder& holder : room.holders) {
        if (holder.victim.name == "team/" + name) holders.push_back(&holder);
      }
    }
    return PreemptionRules(cluster_, workload, request, cluster_.cluster_queues[0])
        .RulesFor(holders);
  };
  EXPECT_EQ(rules({"one", "two"}), "reclaimWithinCohort Any");
  EXPECT_EQ(rules({"one", "two", "three"}), "no: ClusterQueue lent-queue does not borrow so much");
  EXPECT_EQ(rules({"own"}), "no: withinClusterQueue is Never");
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  EXPECT_EQ(rules({"one", "own"}), "reclaimWithinCohort Any, withinClusterQueue LowerPriority");
  request.pod_sets[0].count = 16;
  EXPECT_THAT(rules({"one"}), HasSubstr("more than gpu-queue's own nominal quota"));
}

}  // namespace
}  // namespace espalier::verdicts_test
