#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "tests/kueue/scheduling_cycle_fixture.hpp"

namespace espalier::scheduling_cycle_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

TEST_F(SchedulingCycleTest, OneHeadPerClusterQueueAndCycle) {
  Add("g1", 4);
  Add("g2", 4);
  Add("c1", 2, std::nullopt, "cpu").pod_sets[0].pod_template.requests = {{"cpu", 1000}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed", "1 c1 assumed", "2 g2 assumed"));
  EXPECT_EQ(result.cycles, 2);
  EXPECT_EQ(result.decisions[0].evaluation, 1);
  EXPECT_EQ(result.decisions[0].cluster_queue, "gpu-queue");
  EXPECT_EQ(result.decisions[0].assignments[0].topology_assignment, OnHosts({{"a1", 4}}));
  EXPECT_EQ(result.decisions[1].assignments[0].flavors, (StringMap{{"cpu", "cpu"}}));
  EXPECT_FALSE(result.decisions[1].assignments[0].topology_assignment);
  EXPECT_TRUE(HasReservation(result.cluster.workloads[0]));
}

TEST_F(SchedulingCycleTest, TellsHowManyWorkloadsItLookedAt) {
  Add("g1", 4);
  Add("g2", 4);
  Add("c1", 2, std::nullopt, "cpu").pod_sets[0].pod_template.requests = {{"cpu", 1000}};
  const auto progress = [&](bool until_stable) {
    std::vector<std::pair<std::size_t, std::size_t>> told;
    const Engine engine(MakeCpuBackend(1), gates_);
    const auto result = RunSchedulingCycles(
        cluster_, engine,
        {.until_stable = until_stable, .progress = [&](std::size_t looked_at, std::size_t waiting) {
           told.emplace_back(looked_at, waiting);
         }});
    EXPECT_TRUE(result.has_value());
    return told;
  };
  EXPECT_THAT(progress(true), ElementsAre(Pair(1, 3), Pair(2, 3), Pair(3, 3)));
  EXPECT_THAT(progress(false), ElementsAre(Pair(1, 2), Pair(2, 2))) << "two queues have a head";
}

TEST_F(SchedulingCycleTest, PodsBeyondTheLastWholeSliceAreNoted) {  // R6.9
  TopologyRequest request = Required(kRack);
  request.slice_topology = kRack;
  request.slice_size = 2;
  Add("odd", 5, request);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 odd assumed"));
  EXPECT_THAT(result.notes,
              ElementsAre("workload team/odd, pod set main: 1 of its 5 pods get no place, as they "
                          "are beyond the last whole slice of 2; Kueue counts the workload as "
                          "placed all the same"));
}

TEST_F(SchedulingCycleTest, StopsAfterOneCycleWhenAsked) {
  Add("g1", 1);
  Add("g2", 1);
  EXPECT_THAT(Lines(Run(false)), ElementsAre("1 g1 assumed"));
}

TEST_F(SchedulingCycleTest, HigherPriorityGoesFirstAcrossQueues) {  // R21.6
  AddQueue("aaa");
  Add("late", 1, Required(kRack), "aaa");
  Add("urgent", 1).priority = 7;
  EXPECT_THAT(Lines(Run()), ElementsAre("1 urgent assumed", "1 late assumed"));
}

TEST_F(SchedulingCycleTest, UsageOfOneCycleIsSeenInTheNext) {
  Add("g1", 8);
  Add("g2", 8);
  Add("g3", 8);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed", "2 g2 assumed", "3 g3 not-admitted"));
  EXPECT_THAT(result.decisions[2].reason, HasSubstr("excluded: resource \"gpu\": 4"));
}

TEST_F(SchedulingCycleTest, BestEffortGoesPastAHeadThatDoesNotFit) {
  Add("big", 100);
  Add("small", 1);
  EXPECT_THAT(Lines(Run()), ElementsAre("1 big not-admitted", "2 small assumed"));
}

TEST_F(SchedulingCycleTest, StrictFifoWaitsBehindTheHead) {
  cluster_.cluster_queues[0].queueing_strategy = "StrictFIFO";
  Add("big", 100);
  Add("small", 1);
  EXPECT_THAT(Lines(Run()), ElementsAre("1 big not-admitted"));
}

TEST_F(SchedulingCycleTest, QuotaOfTheClusterQueue) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Add("g1", 4);
  Add("g2", 3);
  Add("g3", 2);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed", "2 g2 not-admitted", "3 g3 assumed"));
  EXPECT_EQ(result.decisions[1].reason,
            "couldn't assign flavors to pod set main: insufficient unused quota for gpu in flavor "
            "gpu, 1 more needed");
  EXPECT_EQ(result.decisions[1].pending_reason, "WaitingForQuota");
}

TEST_F(SchedulingCycleTest, AdmittedWorkloadsHoldQuota) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Admit(Add("running", 4), "gpu-queue", "gpu", OnHosts({{"b1", 4}}));
  Add("g1", 3);
  EXPECT_THAT(Run().decisions[0].reason, HasSubstr("1 more needed"));
  SetCondition(cluster_.workloads[0], {"Finished", "True", "", ""});
  EXPECT_THAT(Lines(Run()), ElementsAre("1 g1 assumed"));
}

TEST_F(SchedulingCycleTest, ConflictInOneCycleIsRecomputedOnce) {  // R21.7
  AddQueue("other");
  Add("g1", 4, Required(std::string(kHostnameLabel)));
  Add("g2", 4, Required(std::string(kHostnameLabel)), "other");
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed", "1 g2 assumed"));
  EXPECT_EQ(result.decisions[1].assignments[0].topology_assignment, OnHosts({{"a2", 4}}));
}

TEST_F(SchedulingCycleTest, ConflictWithoutRecomputationWaitsForTheNextCycle) {  // R21.7
  gates_.recompute_assignment_within_scheduling_cycle = false;
  AddQueue("other");
  Add("g1", 4, Required(std::string(kHostnameLabel)));
  Add("g2", 4, Required(std::string(kHostnameLabel)), "other");
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed", "1 g2 not-admitted", "2 g2 assumed"));
  EXPECT_EQ(result.decisions[1].reason,
            "Workload no longer fits after processing another workload");
}

TEST_F(SchedulingCycleTest, PodsWithoutRequestsNeverGetPastTheCheck) {  // R21.3
  TopologyRequest grouped = Required(kRack);
  grouped.pod_set_group_name = "g";
  Workload& workload = Add("w", 2, grouped);
  workload.pod_sets.push_back(MakePodSet("leader", 1, {}, grouped));
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 w not-admitted"));
  EXPECT_THAT(result.decisions[0].reason, HasSubstr("no longer fits"));
}

TEST_F(SchedulingCycleTest, WaitingForRoomReservesCapacityForTheCycle) {  // R21.5
  Admit(Add("running", 4), "gpu-queue", "gpu", OnHosts({{"a1", 4}}));
  AddQueue("other");
  Add("g1", 16, Unconstrained());  // fits the empty cluster only
  Add("g2", 4, Required(kRack), "other");
  EXPECT_THAT(Lines(Run()), ElementsAre("1 g1 not-admitted", "1 g2 not-admitted", "2 g2 assumed"));
}

TEST_F(SchedulingCycleTest, TriesTheNextFlavorInTheNextCycle) {
  cluster_.flavors.push_back(MakeFlavor("gpu2", "default"));
  cluster_.nodes.push_back(MakeNode("z1", "r9", {{"gpu", 64}, {"pods", 100}}, "gpu2"));
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu", "gpu2"});
  Add("g1", 20);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 not-admitted", "2 g1 assumed"));
  EXPECT_EQ(result.decisions[1].assignments[0].topology_assignment, OnHosts({{"z1", 20}}));
}

TEST_F(SchedulingCycleTest, OverlappingFlavorsSeeEachOtherFromTheNextCycleOn) {  // R5.6, R5.7
  ResourceFlavor twin = MakeFlavor("twin", "default");
  twin.node_labels = {{"pool", "gpu"}};
  cluster_.flavors.push_back(twin);
  AddQueue("other", {"twin"});
  Add("g1", 8);
  Add("o1", 8, Required(kRack), "other");
  Add("g2", 8);
  Add("o2", 8, Required(kRack), "other");
  const SchedulingCyclesResult result = Run();
  // In the first cycle both take rack r1: neither snapshot knows of the other's booking.
  EXPECT_EQ(result.decisions[0].assignments[0].topology_assignment,
            result.decisions[1].assignments[0].topology_assignment);
  EXPECT_EQ(result.decisions[2].assignments[0].topology_assignment,
            OnHosts({{"b1", 4}, {"b2", 4}}));
}

TEST_F(SchedulingCycleTest, ReplacesPodsOfAnUnhealthyNode) {  // R21.9
  Workload& workload = Add("running", 3);
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 1}, {"a2", 2}}));
  workload.unhealthy_nodes = {"a2"};
  cluster_.nodes[1].ready = false;
  Add("g1", 2);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running replaced", "1 g1 assumed"));
  EXPECT_EQ(result.decisions[0].assignments[0].topology_assignment, OnHosts({{"a1", 3}}));
  EXPECT_THAT(result.cluster.workloads[0].unhealthy_nodes, IsEmpty());
  // Rack r1, nominated at the start of the cycle, has no room left after the replacement.
  EXPECT_EQ(result.decisions[1].assignments[0].topology_assignment, OnHosts({{"b1", 2}}));
}

TEST_F(SchedulingCycleTest, EvictsWhenThereIsNoReplacement) {  // R21.9
  Workload& workload = Add("running", 8);
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 4}}));
  workload.unhealthy_nodes = {"a2"};
  cluster_.nodes[1].ready = false;
  const SchedulingCyclesResult result = Run();
  // Back in its queue, it finds the other rack.
  EXPECT_THAT(Lines(result), ElementsAre("1 running evicted", "2 running assumed"));
  EXPECT_EQ(result.decisions[0].reason,
            "Workload was evicted as there was no replacement for unhealthy node(s): a2");
  EXPECT_EQ(result.decisions[1].assignments[0].topology_assignment,
            OnHosts({{"b1", 4}, {"b2", 4}}));
}

TEST_F(SchedulingCycleTest, StaysWithoutFailFast) {  // R21.9
  gates_.failed_node_replacement_fail_fast = false;
  Workload& workload = Add("running", 8);
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 4}}));
  workload.unhealthy_nodes = {"a2"};
  cluster_.nodes[1].ready = false;
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running not-admitted"));
  EXPECT_TRUE(HasReservation(result.cluster.workloads[0]));
}

TEST_F(SchedulingCycleTest, AnEvictionWakesParkedWorkloadsOfItsQueue) {
  Workload& workload = Add("running", 8);
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 4}}));
  workload.unhealthy_nodes = {"a2"};
  cluster_.nodes[1].ready = false;
  Add("g1", 12, Unconstrained()).priority = 5;  // only once a1 is free again
  EXPECT_THAT(Lines(Run()), ElementsAre("1 running evicted", "1 g1 not-admitted", "2 g1 assumed",
                                        "3 running not-admitted"));
}

TEST_F(SchedulingCycleTest, ElasticScaleUpFinishesTheOldSlice) {  // R20.8
  gates_.elastic_jobs_via_workload_slices_with_tas = true;
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 4);
  Admit(Add("old", 2, Unconstrained()), "gpu-queue", "gpu", OnHosts({{"b1", 2}}));
  Add("new", 4, Unconstrained()).annotations = {
      {"kueue.x-k8s.io/elastic-job", "true"},
      {"kueue.x-k8s.io/workload-slice-replacement-for", "team/old"}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 new assumed"));
  const auto& assignment = result.decisions[0].assignments[0].topology_assignment;
  ASSERT_TRUE(assignment);
  EXPECT_THAT(assignment->domains, ::testing::Contains(::testing::Field(
                                       &TopologyDomainAssignment::values, ElementsAre("b1"))));
  EXPECT_TRUE(HasCondition(result.cluster.workloads[0], kFinished));
}

TEST_F(SchedulingCycleTest, ASliceNeedsQuotaForTheDifferenceAlone) {  // R21.13, default gates
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 8);
  Admit(Add("old", 5, Unconstrained()), "gpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 1}}));
  Add("new", 7, Unconstrained()).annotations = {
      {"kueue.x-k8s.io/workload-slice-replacement-for", "team/old"}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 new assumed"));
  EXPECT_TRUE(HasCondition(result.cluster.workloads[0], kFinished));
  EXPECT_EQ(result.cluster.workloads[0].conditions.back().reason, "WorkloadSliceReplaced");
}

TEST_F(SchedulingCycleTest, ASliceIsNotAdmittedInPart) {  // R21.13 (c)
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 8);
  Admit(Add("old", 5, Unconstrained()), "gpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 1}}));
  Workload& slice = Add("new", 9, Unconstrained());
  slice.pod_sets[0].min_count = 6;
  slice.annotations = {{"kueue.x-k8s.io/workload-slice-replacement-for", "team/old"}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 new not-admitted"));
  EXPECT_FALSE(HasCondition(result.cluster.workloads[0], kFinished));
}

TEST_F(SchedulingCycleTest, ASliceOfAnotherQueueIsNotReplaced) {  // R21.13
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 8);
  Admit(Add("old", 5, Unconstrained()), "cpu-queue", "gpu", OnHosts({{"a1", 4}, {"a2", 1}}));
  Add("new", 7, Unconstrained()).annotations = {
      {"kueue.x-k8s.io/workload-slice-replacement-for", "team/old"}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 new assumed"));
  EXPECT_FALSE(HasCondition(result.cluster.workloads[0], kFinished));
}

TEST_F(SchedulingCycleTest, ASlicePerReplicaStaysOnItsParentsFlavor) {  // W8.9
  cluster_.flavors = {MakeFlavor("first"), MakeFlavor("second")};
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"first", "second"}, 0, 8);
  Workload& parent = Add("w", 2, std::nullopt);
  Admit(parent, "gpu-queue", "second", {});
  parent.admission->pod_set_assignments[0].topology_assignment.reset();
  Add("w-replica-1", 1, std::nullopt).owners = {
      {"kueue.x-k8s.io/v1beta2", "Workload", "w", "uid-w", true}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 w-replica-1 assumed"));
  EXPECT_EQ(*result.decisions[0].assignments[0].flavors.Find("gpu"), "second");
}

TEST_F(SchedulingCycleTest, SaysWhatIsNotSimulated) {
  cluster_.cluster_queues[0].cohort = "all";
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  cluster_.cluster_queues[1].stop_policy = "Hold";
  cluster_.cluster_queues[1].reclaim_within_cohort = "Never";
  Add("stray", 1, Required(kRack), "unknown");
  EXPECT_THAT(Run().notes,
              ElementsAre(HasSubstr("ClusterQueue gpu-queue is in cohort all"),
                          HasSubstr("ClusterQueue gpu-queue allows preemption"),
                          HasSubstr("ClusterQueue cpu-queue is inactive: it has stopPolicy "
                                    "Hold"),
                          HasSubstr("workload team/stray is left out")));
}

TEST_F(SchedulingCycleTest, SaysWhomPreemptionWouldTake_R29_3) {
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  Admit(Add("low", 4), "gpu-queue", "gpu", OnHosts({{"a1", 4}}));
  Admit(Add("lower", 4), "gpu-queue", "gpu", OnHosts({{"b1", 4}}));
  cluster_.workloads[1].priority = -1;
  Add("high", 8).priority = 1;  // a whole rack
  const auto notes = Run().notes;
  EXPECT_THAT(notes, Contains("workload team/high in ClusterQueue gpu-queue would have 1 preempted "
                              "for it: team/lower"));
  cluster_.workloads[2].priority = -1;
  EXPECT_THAT(Run().notes,
              Contains("workload team/high in ClusterQueue gpu-queue stays pending: nobody may be "
                       "preempted for it by LowerPriority"));
}

// Quota and topology both have to have room.
TEST_F(SchedulingCycleTest, PreemptionMakesRoomForQuotaToo_R29_3) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 1'000'000, 9);
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  Admit(Add("low", 4), "gpu-queue", "gpu", OnHosts({{"a1", 4}}));
  Admit(Add("lower", 1), "gpu-queue", "gpu", OnHosts({{"b1", 1}}));
  cluster_.workloads[1].priority = -1;
  Add("high", 7).priority = 1;
  EXPECT_THAT(Run().notes, Contains("workload team/high in ClusterQueue gpu-queue would have 1 "
                                    "preempted for it: team/low"));
}

// A workload waits where its victims are, so that others keep what is free elsewhere.
TEST_F(SchedulingCycleTest, ReservesThePlaceOfVictims_R29_4) {
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  AddQueue("other");
  Admit(Add("low", 4), "gpu-queue", "gpu", OnHosts({{"a1", 4}}));
  Admit(Add("lower", 4), "gpu-queue", "gpu", OnHosts({{"b1", 4}}));
  cluster_.workloads[1].priority = -1;
  Add("high", 8).priority = 1;  // a whole rack
  Add("small", 4, Required(kRack), "other");
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 high not-admitted", "1 small assumed"));
  EXPECT_EQ(result.decisions[1].assignments[0].topology_assignment, OnHosts({{"a2", 4}}));
}

TEST_F(SchedulingCycleTest, SaysWhatItTakesForGranted) {
  cluster_.cluster_queues[0].namespace_selector->match_labels = {{"tier", "gold"}};
  cluster_.cluster_queues[0].unknown_fields = {"spec.fairSharing"};
  cluster_.cluster_queues[0].admission_checks = {"manual"};
  cluster_.admission_checks = {{"manual", "example.com/manual"}};
  cluster_.cluster_queues[1].stop_policy = "HoldAndDrain";
  EXPECT_THAT(
      Run().notes,
      ElementsAre(HasSubstr("gpu-queue has admission checks"),
                  HasSubstr("AdmissionCheck manual of ClusterQueue gpu-queue does not say whether "
                            "it is active: taken as active"),
                  HasSubstr("ClusterQueue gpu-queue selects namespaces by their labels, and no "
                            "Namespace is in the input: taken as if it selected all"),
                  "ClusterQueue gpu-queue sets spec.fairSharing, which is not simulated",
                  HasSubstr("ClusterQueue cpu-queue is drained"),
                  HasSubstr("ClusterQueue cpu-queue is inactive")));
}

TEST_F(SchedulingCycleTest, PassesOverBeforeAFlavorIsLookedFor) {  // R21.14
  Add("refused", 1).resources_error = "resources validation failed: x";
  Add("fine", 1);
  Add("lost", 1, Required(kRack), "lost");
  cluster_.local_queues.push_back(MakeLocalQueue("lost", "gone"));
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result),
              ElementsAre("1 refused not-admitted", "1 lost not-admitted", "2 fine assumed"));
  EXPECT_EQ(result.decisions[0].reason, "resources validation failed: x");
  EXPECT_EQ(result.decisions[1].reason, "ClusterQueue gone not found");
  EXPECT_EQ(result.decisions[1].cluster_queue, "gone");
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("workload team/lost is not admitted: "
                                                  "ClusterQueue gone, where LocalQueue team/lost "
                                                  "leads, is not in the input")));
}

TEST_F(SchedulingCycleTest, OnlyAMismatchedNamespaceLetsOthersPassAStrictHead) {  // R21.14
  cluster_.cluster_queues[0].queueing_strategy = "StrictFIFO";
  cluster_.cluster_queues[0].namespace_selector->match_labels = {{"tier", "gold"}};
  cluster_.namespaces = {{"team", {}}, {"gold", {{"tier", "gold"}}}};
  Add("mismatched", 1);
  Add("fine", 1).key.namespace_ = "gold";
  cluster_.local_queues.push_back({{"gold", "gpu"}, "gpu-queue", ""});
  EXPECT_THAT(Lines(Run()), ElementsAre("1 mismatched not-admitted", "2 fine assumed"));
  cluster_.workloads[0].admission_checks = {{"x", "Rejected", {}}};
  EXPECT_THAT(Lines(Run()), ElementsAre("1 mismatched not-admitted"));
}

TEST_F(SchedulingCycleTest, WhoIsNoHeadWaits) {  // R21.14
  Add("later", 1).requeue_at_seconds = 1;
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(result.decisions, IsEmpty());
  EXPECT_THAT(result.notes, ElementsAre("workload team/later of ClusterQueue gpu-queue waits "
                                        "outside of its queue: it is requeued at "
                                        "1970-01-01T00:00:01Z only"));
}

TEST_F(SchedulingCycleTest, AnInactiveQueueReplacesNothing) {  // R21.14
  Workload& workload = Add("moved", 1);
  Admit(workload, "gpu-queue", "gpu", OnHosts({{"gone", 1}}));
  workload.unhealthy_nodes = {"gone"};
  cluster_.cluster_queues[0].stop_policy = "Hold";
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 moved not-admitted"));
  EXPECT_EQ(result.decisions[0].reason, "ClusterQueue gpu-queue is inactive");
  EXPECT_TRUE(HasReservation(result.cluster.workloads[0]));
}

TEST_F(SchedulingCycleTest, QueuesWithAdmissionChecksReserveQuotaOnly) {
  cluster_.cluster_queues[0].admission_checks = {"manual"};
  cluster_.admission_checks = {{"manual", "example.com/manual", true}};
  Add("g1", 1);
  const SchedulingCyclesResult result = Run();
  EXPECT_TRUE(HasCondition(result.cluster.workloads[0], kQuotaReserved));
  EXPECT_FALSE(HasCondition(result.cluster.workloads[0], kAdmitted));
  EXPECT_TRUE(result.decisions[0].assignments[0].topology_assignment);
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("gpu-queue has admission checks")));
}

class DelayedTopologyTest : public SchedulingCycleTest {
 protected:
  DelayedTopologyTest() {
    cluster_.cluster_queues[0].admission_checks = {"check"};
    cluster_.admission_checks = {{"check", "kueue.x-k8s.io/provisioning-request", true}};
    Add("g1", 8);
  }
  static const PodSetAssignment& First(const SchedulingCyclesResult& result) {
    return result.decisions[0].assignments[0];
  }
};

TEST_F(DelayedTopologyTest, WaitsForAProvisioningRequest) {  // R20.6
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed"));
  EXPECT_FALSE(First(result).topology_assignment);
  EXPECT_EQ(First(result).delayed_topology_request, "Pending");
}

TEST_F(DelayedTopologyTest, OnlyOnTheFlavorsOfTheCheck) {  // R20.6
  cluster_.cluster_queues[0].admission_check_flavors = {{"check", {"other"}}};
  const SchedulingCyclesResult result = Run();
  EXPECT_TRUE(First(result).topology_assignment);
  EXPECT_FALSE(First(result).delayed_topology_request);
}

TEST_F(DelayedTopologyTest, SecondPassOnceEveryCheckIsReady) {  // R21.9
  cluster_ = Run().cluster;
  EXPECT_THAT(Run().decisions, IsEmpty());
  cluster_.workloads[0].admission_checks = {{"check", "Ready", {}}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed"));
  EXPECT_EQ(First(result).topology_assignment, OnHosts({{"a1", 4}, {"a2", 4}}));
  EXPECT_EQ(First(result).delayed_topology_request, "Ready");
  EXPECT_TRUE(HasCondition(result.cluster.workloads[0], kAdmitted));
}

TEST_F(DelayedTopologyTest, AFailedSecondPassEvictsNobody) {  // R21.9
  cluster_ = Run().cluster;
  cluster_.workloads[0].admission_checks = {{"check", "Ready", {}}};
  cluster_.nodes.resize(1);
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 not-admitted"));
  EXPECT_TRUE(HasReservation(result.cluster.workloads[0]));
}

TEST_F(DelayedTopologyTest, MultiKueueNeverPlacesHere) {  // R20.6
  cluster_.admission_checks[0].controller_name = "kueue.x-k8s.io/multikueue";
  cluster_ = Run().cluster;
  EXPECT_EQ(cluster_.workloads[0].admission->pod_set_assignments[0].delayed_topology_request,
            "Pending");
  cluster_.workloads[0].admission_checks = {{"check", "Ready", {}}};
  EXPECT_THAT(Run().decisions, IsEmpty());
}

TEST_F(SchedulingCycleTest, NothingPendingIsNoCycle) {
  const SchedulingCyclesResult result = Run();
  EXPECT_EQ(result.cycles, 0);
  EXPECT_THAT(result.decisions, IsEmpty());
}

TEST_F(SchedulingCycleTest, BadClusterIsAnError) {
  cluster_.nodes.push_back(cluster_.nodes.front());
  const Engine engine(MakeCpuBackend(1), gates_);
  EXPECT_FALSE(RunSchedulingCycles(cluster_, engine, {true}).has_value());
}

// Whichever pause it was stopped in: between workloads, or before the engine answers one.
TEST_F(SchedulingCycleTest, StopsWithItsBudget) {
  for (int i = 0; i < 10; ++i) Add(std::to_string(i), 1);
  bool stopped = true;
  int pause = 0;
  while (stopped) {
    ++pause;
    WorkBudget budget;
    const Engine engine(MakeCpuBackend(1), gates_, budget);
    int pauses = 0;
    budget.OnPause([&] {
      if (++pauses == pause) budget.Stop({ErrorClass::kCancelled, "gone"});
    });
    budget.RequestPause();
    const auto result = RunSchedulingCycles(cluster_, engine, {.until_stable = true});
    stopped = !result;
    if (stopped) {
      EXPECT_EQ(result.error(), (Error{ErrorClass::kCancelled, "gone"}));
    }
    EXPECT_LE(pauses, stopped ? pause + 1 : pause);
  }
  EXPECT_GT(pause, 20);
}

// A refusal is kept for every pod set of a group.
TEST_F(SchedulingCycleTest, RefusalsAreChargedToTheBudget) {
  Workload& workload = Add("g", 1);
  workload.pod_sets.clear();
  for (int i = 0; i < 1000; ++i) {
    workload.pod_sets.push_back(
        MakePodSet(std::to_string(i), 1, {{"unknown", 1}}, Required(kRack)));
    workload.pod_sets.back().topology_request->pod_set_group_name = "all";
  }
  WorkBudget budget(std::int64_t{64} << 10);
  const Engine engine(MakeCpuBackend(1), gates_, budget);
  const auto state = ClusterState::Build(BuildClusterStateInput(cluster_, gates_));
  ASSERT_TRUE(state);
  RunSchedulingCycles(cluster_, state->Clone(), engine, {.until_stable = true});
  EXPECT_TRUE(budget.stopped());
}

// From the next cycle on.
TEST_F(SchedulingCycleTest, R5_7_UsageReachesAllFlavorsOfTheNodes) {
  cluster_.flavors.push_back(MakeFlavor("gpu", "default"));
  cluster_.flavors.back().name = "same";
  AddQueue("other", {"same"});
  Add("g1", 8);
  Add("s1", 1, Required(kRack), "other");
  Add("s2", 8, Required(kRack), "other");
  Add("s3", 1, Required(kRack), "other");
  EXPECT_THAT(Lines(Run()),
              ElementsAre("1 g1 assumed", "1 s1 assumed", "2 s2 assumed", "3 s3 not-admitted"));
}

}  // namespace
}  // namespace espalier::scheduling_cycle_test
