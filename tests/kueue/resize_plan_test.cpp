#include "host/kueue/elastic/resize_plan.hpp"

#include <map>
#include <set>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/cycle/scheduling_cycle.hpp"
#include "tests/kueue/resize_plan_fixture.hpp"

namespace espalier::resize_plan_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

using Domains = std::vector<TopologyDomainAssignment>;

TEST_F(ResizePlanTest, EqualCountsNeedNothing) {
  Elastic("w", OnHosts({{"a1", 4}}));
  const ResizePlan plan = Plan("w", 4);
  EXPECT_EQ(plan.decision, ResizeDecision::kNone);
  EXPECT_THAT(plan.counts, ElementsAre(Pair("main", 4)));
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 4}}));
  EXPECT_FALSE(plan.after);
}

TEST_F(ResizePlanTest, ShrinksInPlaceAsKueueTruncates) {  // W5.2, R16.5
  Elastic("w", OnHosts({{"a1", 2}, {"a2", 1}, {"b1", 3}}));
  const ResizePlan plan = Plan("w", 4);
  EXPECT_EQ(plan.decision, ResizeDecision::kInPlace);
  ASSERT_EQ(plan.leaving.size(), 1U);
  EXPECT_EQ(plan.leaving[0].domains, (Domains{{{"b1"}, 2}}));
  EXPECT_EQ(plan.after->admission->pod_set_assignments[0].topology_assignment,
            OnHosts({{"a1", 2}, {"a2", 1}, {"b1", 1}}));
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 4}}));
  EXPECT_THAT(plan.slices, IsEmpty());
}

TEST_F(ResizePlanTest, LeavingPodsFreeTheCoarsestDomainInProfileEspalier) {  // W5.2
  profile_ = ResizeProfile::kEspalier;
  Elastic("w", OnHosts({{"a1", 2}, {"a2", 1}, {"b1", 4}}));
  EXPECT_EQ(Plan("w", 4).leaving[0].domains, (Domains{{{"a1"}, 2}, {{"a2"}, 1}}));
  EXPECT_EQ(Plan("w", 5).leaving[0].domains, (Domains{{{"a1"}, 1}, {{"a2"}, 1}}));
}

TEST_F(ResizePlanTest, AShrinkingWorkloadAsksForNoQuota) {             // W5.2
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 1);  // less than it holds
  Elastic("w", OnHosts({{"a1", 4}}));
  EXPECT_EQ(Plan("w", 3).decision, ResizeDecision::kInPlace);
}

TEST_F(ResizePlanTest, GrowsByASliceThatPlacesTheDifference) {  // W5.3, R16.4
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 8);
  Elastic("w", OnHosts({{"a1", 2}, {"b1", 3}}));
  const ResizePlan plan = Plan("w", 7);
  EXPECT_EQ(plan.decision, ResizeDecision::kNewSlice);
  ASSERT_EQ(plan.slices.size(), 1U);
  const PlannedSlice& slice = plan.slices[0];
  EXPECT_EQ(slice.workload.key, (ObjectKey{"team", "w-slice-2"}));
  EXPECT_EQ(slice.replacement_for, "team/w");
  EXPECT_EQ(*slice.workload.annotations.Find(kSliceReplacementFor), "team/w");
  EXPECT_EQ(*slice.workload.annotations.Find(kSliceNameAnnotation), "w");
  EXPECT_EQ(slice.workload.owners[0].name, "job-w");
  EXPECT_TRUE(slice.admitted);
  std::int64_t pods = 0;
  const auto& placed = *slice.workload.admission->pod_set_assignments[0].topology_assignment;
  for (const TopologyDomainAssignment& domain : placed.domains) {
    EXPECT_GE(domain.count, domain.values[0] == "a1" ? 2 : domain.values[0] == "b1" ? 3 : 1);
    pods += domain.count;
  }
  EXPECT_EQ(pods, 7);
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 7}}));
  EXPECT_TRUE(HasCondition(*plan.after, kFinished));
  EXPECT_EQ(plan.after->conditions.back().reason, "WorkloadSliceReplaced");
}

TEST_F(ResizePlanTest, ASliceThatDoesNotFitLeavesTheOldOneUnharmed) {  // W5.3
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Elastic("w", OnHosts({{"a1", 2}, {"b1", 3}}));
  const ResizePlan plan = Plan("w", 7);
  EXPECT_EQ(plan.decision, ResizeDecision::kNewSlice);
  EXPECT_FALSE(plan.slices[0].admitted);
  EXPECT_FALSE(plan.after);
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 5}}));
  EXPECT_THAT(plan.reason, HasSubstr("insufficient unused quota for gpu in flavor gpu, 1 more"));
  CarryOut(plan, cluster_);
  EXPECT_TRUE(HasReservation(Find("w")));
  EXPECT_TRUE(IsPending(Find("w-slice-2")));
}

TEST_F(ResizePlanTest, AWaitingSliceChangesInPlace) {  // at most two slices (W5.3)
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Elastic("w", OnHosts({{"a1", 2}, {"b1", 3}}));
  CarryOut(Plan("w", 7), cluster_);
  const ResizePlan plan = Plan("w", 6);  // by the name of the old one
  EXPECT_EQ(plan.decision, ResizeDecision::kInPlace);
  EXPECT_EQ(plan.workload.name, "w-slice-2");
  EXPECT_THAT(plan.leaving, IsEmpty());
  CarryOut(plan, cluster_);
  EXPECT_EQ(Find("w-slice-2").pod_sets[0].count, 6);
  EXPECT_EQ(Find("w").pod_sets[0].count, 5);
  EXPECT_EQ(Plan("w", 6).decision, ResizeDecision::kNone);
}

TEST_F(ResizePlanTest, AnyGrowthIsAScaleUpAndLowerCountsTravelWithIt) {  // W8.10
  Workload& workload = Elastic("w", OnHosts({{"a1", 2}}));
  workload.pod_sets.push_back(MakePodSet("second", 3, {{"gpu", 1}}, Unconstrained()));
  PodSetAssignment second = workload.admission->pod_set_assignments[0];
  second.name = "second";
  second.count = 3;
  second.resource_usage = {{"gpu", 3}};
  second.topology_assignment = OnHosts({{"b1", 3}});
  workload.admission->pod_set_assignments.push_back(second);
  const Engine engine(MakeCpuBackend(1), gates_);
  for (const ResizeProfile profile : {ResizeProfile::kKueue, ResizeProfile::kEspalier}) {
    const auto plan =
        PlanResize(cluster_, engine,
                   {{"team", "w"}, {{"main", 3}, {"second", 1}}, SliceMode::kReplacement, profile});
    ASSERT_TRUE(plan);
    EXPECT_EQ(plan->decision, ResizeDecision::kNewSlice);
    EXPECT_THAT(plan->counts, ElementsAre(Pair("main", 3), Pair("second", 1)));
    ASSERT_EQ(plan->leaving.size(), 1U);
    EXPECT_EQ(plan->leaving[0], (LeavingPods{"second", {{{"b1"}, 2}}}));
    ASSERT_TRUE(plan->slices[0].admitted) << plan->reason;
    EXPECT_EQ(plan->slices[0].workload.admission->pod_set_assignments[1].topology_assignment,
              OnHosts({{"b1", 1}}));
    EXPECT_EQ(plan->usage, (QuotaUsage{{{"gpu", "gpu"}, 4}}));
  }
}

TEST_F(ResizePlanTest, RefusesInKueuesWordsWhereItHasThem) {
  Elastic("w", OnHosts({{"a1", 2}}), Required(kRack));
  EXPECT_EQ(Plan("w", 3).decision, ResizeDecision::kRefused);
  EXPECT_EQ(Plan("w", 3).reason,
            "failed to assign flavors to pod set main: required topology is not supported with "
            "ElasticJobsViaWorkloadSlices");  // R20.3
  EXPECT_EQ(Plan("w", 1).decision, ResizeDecision::kInPlace);

  Elastic("sick", OnHosts({{"b1", 2}})).unhealthy_nodes = {"b1"};
  for (const std::int64_t count : {1, 3}) {  // W5.6
    EXPECT_EQ(Plan("sick", count).decision, ResizeDecision::kRefused);
    EXPECT_THAT(Plan("sick", count).reason, HasSubstr("is on unhealthy nodes (b1)"));
  }

  Elastic("rigid", OnHosts({{"b2", 1}})).annotations = {};
  EXPECT_THAT(Plan("rigid", 2).reason, HasSubstr("is not elastic"));

  for (const char* name : {"x1", "x2", "x3"}) {
    Elastic(name, OnHosts({{"b2", 1}})).owners[0] = {"batch/v1", "Job", "x", "uid-x", true};
  }
  EXPECT_EQ(Plan("x1", 2).reason, "unexpected number of matching workload slices: 3");
  cluster_.workloads.pop_back();
  EXPECT_EQ(Plan("x1", 2).reason,
            "unexpected combination of old and new workload slices with reserved quota");
}

TEST_F(ResizePlanTest, ARequiredLevelIsKeptInProfileEspalier) {
  profile_ = ResizeProfile::kEspalier;
  Elastic("w", OnHosts({{"a1", 4}}), Required(kRack));
  Elastic("other", OnHosts({{"a2", 2}}));
  const ResizePlan plan = Plan("w", 6);
  ASSERT_TRUE(plan.slices[0].admitted) << plan.reason;
  EXPECT_EQ(plan.slices[0].workload.admission->pod_set_assignments[0].topology_assignment,
            OnHosts({{"a1", 4}, {"a2", 2}}));
  EXPECT_FALSE(Plan("w", 7).slices[0].admitted);  // there is room in the other rack
  EXPECT_EQ(*plan.slices[0].workload.pod_sets[0].topology_request, Required(kRack));
}

TEST_F(ResizePlanTest, ARequiredLevelIsKeptFromNoPodsOnInProfileEspalier) {
  profile_ = ResizeProfile::kEspalier;
  Elastic("other", OnHosts({{"a2", 3}, {"b1", 1}}));
  Elastic("w", OnHosts({{"a1", 2}}), Required(kRack));
  CarryOut(Plan("w", 0), cluster_);
  for (const bool has_places : {true, false}) {
    PodSetAssignment& held = cluster_.workloads[1].admission->pod_set_assignments[0];
    if (!has_places) held.topology_assignment.reset();
    const ResizePlan plan = Plan("w", 6);
    ASSERT_EQ(plan.slices.size(), 1U) << plan.reason;
    ASSERT_TRUE(plan.slices[0].admitted) << plan.reason;
    for (const TopologyDomainAssignment& domain :
         plan.slices[0].workload.admission->pod_set_assignments[0].topology_assignment->domains) {
      EXPECT_EQ(domain.values[0][0], 'b');
    }
    EXPECT_FALSE(Plan("w", 8).slices[0].admitted);  // there is room in both racks together
    mode_ = SliceMode::kPerReplica;
    const ResizePlan replicas = Plan("w", 5);
    EXPECT_THAT(replicas.counts, ElementsAre(Pair("main", 5)));
    std::set<char> racks;
    for (const TopologyDomainAssignment& domain :
         replicas.after->admission->pod_set_assignments[0].topology_assignment->domains) {
      racks.insert(domain.values[0][0]);
    }
    EXPECT_EQ(racks.size(), 1U);
    mode_ = SliceMode::kReplacement;
  }
}

TEST_F(ResizePlanTest, APreferredLevelIsTriedFirstInProfileEspalier) {
  profile_ = ResizeProfile::kEspalier;
  TopologyRequest request;
  request.preferred = kRack;
  Elastic("w", OnHosts({{"b1", 4}}), request);
  EXPECT_EQ(Plan("w", 7).slices[0].workload.admission->pod_set_assignments[0].topology_assignment,
            OnHosts({{"b1", 4}, {"b2", 3}}));
  EXPECT_TRUE(Plan("w", 9).slices[0].admitted);
}

TEST_F(ResizePlanTest, OldPodsCountOnceInProfileEspalierAndTwiceInKueue) {  // R16.8
  Elastic("w", OnHosts({{"a1", 3}, {"a2", 3}, {"b1", 3}, {"b2", 3}}));
  EXPECT_FALSE(Plan("w", 13).slices[0].admitted);
  profile_ = ResizeProfile::kEspalier;
  EXPECT_TRUE(Plan("w", 16).slices[0].admitted);
  EXPECT_FALSE(Plan("w", 17).slices[0].admitted);
}

TEST_F(ResizePlanTest, PodSetsKeepTheirRoomFromEachOtherInProfileEspalier) {
  profile_ = ResizeProfile::kEspalier;
  Workload& workload = Elastic("w", OnHosts({{"a1", 2}}));
  PodSet more = workload.pod_sets[0];
  more.name = "more";
  more.count = 4;
  PodSetAssignment places = workload.admission->pod_set_assignments[0];
  places.name = "more";
  places.count = 4;
  places.resource_usage = {{"gpu", 4}};
  places.topology_assignment = OnHosts({{"b1", 4}});
  workload.pod_sets.push_back(more);
  workload.admission->pod_set_assignments.push_back(places);
  const ResizePlan plan = Plan("w", 10);
  ASSERT_TRUE(plan.slices[0].admitted) << plan.reason;
  std::map<std::string, std::int64_t> used;
  for (const auto& assignment : plan.slices[0].workload.admission->pod_set_assignments) {
    for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
      used[domain.values[0]] += domain.count;
    }
  }
  for (const auto& [host, pods] : used) EXPECT_LE(pods, 4) << host;
}

TEST_F(ResizePlanTest, CountsThatAreNotRecordedAreThoseOfThePodSet) {
  Workload& workload = Elastic("w", OnHosts({{"a1", 2}, {"b1", 2}}));
  workload.admission->pod_set_assignments[0].count.reset();
  const ResizePlan plan = Plan("w", 3);
  EXPECT_EQ(plan.after->admission->pod_set_assignments[0].count, 3);
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 3}}));
}

TEST_F(ResizePlanTest, NobodyLeavesAPartThatWasAdmitted) {  // R21.11
  Workload& workload = Elastic("w", OnHosts({{"a1", 3}}));
  workload.pod_sets[0].count = 6;  // three of them were admitted
  const ResizePlan plan = Plan("w", 4);
  EXPECT_EQ(plan.decision, ResizeDecision::kInPlace);
  EXPECT_THAT(plan.leaving, IsEmpty());
  EXPECT_EQ(plan.after->pod_sets[0].count, 4);
  EXPECT_EQ(plan.after->admission->pod_set_assignments[0].count, 3);
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 3}}));
  EXPECT_EQ(Plan("w", 2).usage, (QuotaUsage{{{"gpu", "gpu"}, 2}}));
}

TEST_F(ResizePlanTest, ToNoPodsAndBack) {  // R16.1: no domains, and carried
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan none = Plan("w", 0);
  EXPECT_EQ(none.decision, ResizeDecision::kInPlace);
  EXPECT_EQ(none.usage, (QuotaUsage{{{"gpu", "gpu"}, 0}}));
  EXPECT_EQ(none.leaving[0].domains, (Domains{{{"a1"}, 2}}));
  for (const SliceMode mode : {SliceMode::kReplacement, SliceMode::kPerReplica}) {
    for (const ResizeProfile profile : {ResizeProfile::kKueue, ResizeProfile::kEspalier}) {
      mode_ = mode;
      profile_ = profile;
      cluster_.workloads = {*none.after};
      const ResizePlan back = Plan("w", 3);
      ASSERT_FALSE(back.slices.empty());
      EXPECT_TRUE(back.slices.front().admitted) << back.reason;
      EXPECT_EQ(back.usage, (QuotaUsage{{{"gpu", "gpu"}, 3}}));
    }
  }
}

TEST_F(ResizePlanTest, AnOldSliceWhoseQuotaHasGoneOverEnds) {  // crash between two writes
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Elastic("w", OnHosts({{"a1", 2}}));
  ResizePlan plan = Plan("w", 3);
  ASSERT_TRUE(plan.slices[0].admitted);
  cluster_.workloads.push_back(plan.slices[0].workload);  // and "w" has not ended
  for (const std::int64_t count : {3, 2, 6}) {
    plan = Plan("w", count);
    ASSERT_EQ(plan.ended.size(), 1U) << count;
    EXPECT_EQ(plan.ended[0].key.name, "w");
    if (count == 6) {
      EXPECT_TRUE(plan.slices[0].admitted) << plan.reason;
    }
  }
  CarryOut(plan, cluster_);
  EXPECT_TRUE(HasCondition(Find("w"), kFinished));
  EXPECT_THAT(Plan("w", 6).ended, IsEmpty());
}

TEST_F(ResizePlanTest, LeavesTheClusterAsItWas) {
  Elastic("w", OnHosts({{"a1", 2}}));
  Elastic("sick", OnHosts({{"b1", 2}})).unhealthy_nodes = {"b1"};
  const std::vector<Workload> before = cluster_.workloads;
  for (const SliceMode mode : {SliceMode::kReplacement, SliceMode::kPerReplica}) {
    for (const ResizeProfile profile : {ResizeProfile::kKueue, ResizeProfile::kEspalier}) {
      mode_ = mode;
      profile_ = profile;
      for (const std::int64_t count : {0, 1, 2, 3, 9, 30}) {
        Plan("w", count);
        Plan("sick", count);
        EXPECT_EQ(cluster_.workloads, before);
      }
    }
  }
}

TEST_F(ResizePlanTest, TheStoryOfTheProposal) {  // 4 -> 2 -> 5 -> 10, both modes (KEP-77)
  for (const SliceMode mode : {SliceMode::kReplacement, SliceMode::kPerReplica}) {
    mode_ = mode;
    cluster_ = MakeCluster();
    cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 10);
    Elastic("w", OnHosts({{"a1", 4}}));
    std::vector<std::string> decisions;
    for (const std::int64_t count : {2, 5, 10}) {
      const ResizePlan plan = Plan("w", count);
      decisions.emplace_back(ToString(plan.decision));
      EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, count}}));
      CarryOut(plan, cluster_);
    }
    const std::string up = mode == SliceMode::kReplacement ? "new-slice" : "slices-per-replica";
    EXPECT_THAT(decisions, ElementsAre("in-place", up, up));
    std::int64_t held = 0;
    for (const Workload& workload : cluster_.workloads) {
      if (HasReservation(workload)) held += *workload.admission->pod_set_assignments[0].count;
    }
    EXPECT_EQ(held, 10);
  }
}

TEST_F(ResizePlanTest, WithoutItsQueueQuotaIsNotLookedAtAndSaidSo) {
  Elastic("w", OnHosts({{"a1", 2}}));
  cluster_.cluster_queues.clear();
  const ResizePlan plan = Plan("w", 3);
  EXPECT_TRUE(plan.slices[0].admitted) << plan.reason;
  EXPECT_THAT(plan.notes, ElementsAre(HasSubstr("ClusterQueue gpu-queue is not in the input")));
}

TEST_F(ResizePlanTest, QueuedResizesAreDecidedByTheCycles) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 9);
  Elastic("up", OnHosts({{"a1", 2}}));
  Elastic("down", OnHosts({{"a2", 4}}));
  Elastic("sick", OnHosts({{"b2", 1}})).unhealthy_nodes = {"b2"};
  Elastic("wrong", OnHosts({{"b1", 1}}));
  const Engine engine(MakeCpuBackend(1), gates_);
  const std::vector<ResizeRequest> requests = {{{"team", "wrong"}, {{"main", 1LL << 40}}},
                                               {{"team", "up"}, {{"main", 5}}},
                                               {{"team", "down"}, {{"main", 1}}},
                                               {{"team", "sick"}, {{"main", 2}}}};
  const auto queued = QueueResizes(requests, engine, cluster_);
  ASSERT_TRUE(queued);
  EXPECT_THAT(queued->notes,
              ElementsAre("workload team/wrong keeps its size: the count of pod set \"main\" is "
                          "1099511627776; it lies in 0 to 2147483647",
                          "workload team/up grows: slice up-slice-2 asks to replace it",
                          "workload team/down changes its counts in place",
                          HasSubstr("workload team/sick keeps its size: ")));
  EXPECT_EQ(queued->refused, 2U);
  EXPECT_EQ(Find("down").admission->pod_set_assignments[0].count, 1);
  EXPECT_TRUE(IsPending(Find("up-slice-2")));
  EXPECT_EQ(cluster_.nodes.size(), 4U);
  const auto decided = RunSchedulingCycles(cluster_, engine, {.until_stable = true});
  ASSERT_TRUE(decided);
  const auto decision =
      std::ranges::find(decided->decisions, ObjectKey{"team", "up-slice-2"}, &Decision::workload);
  ASSERT_NE(decision, decided->decisions.end());
  EXPECT_EQ(decision->status, DecisionStatus::kAssumed);
  EXPECT_TRUE(HasCondition(decided->cluster.workloads[0], kFinished));
}

TEST_F(ResizePlanTest, AQueuedResizeKeepsTheReplicasThatWereAdmittedSince) {  // W5.7, W8.9
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 6);
  Elastic("w", OnHosts({{"a1", 2}}));
  Workload replica = MakeWorkload("w-replica-1", "gpu", Find("w").pod_sets);
  replica.pod_sets[0].count = 1;
  replica.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "w", "uid-w", true}};
  Admit(replica, "gpu-queue", "gpu", OnHosts({{"a1", 1}}));
  cluster_.workloads.push_back(replica);
  const Engine engine(MakeCpuBackend(1), gates_);
  const auto queued =
      QueueResizes(std::vector<ResizeRequest>{{{"team", "w"}, {{"main", 100}}}}, engine, cluster_);
  ASSERT_TRUE(queued);
  EXPECT_EQ(queued->refused, 0U);
  EXPECT_TRUE(HasReservation(Find("w")));
  EXPECT_EQ(Find("w").admission->pod_set_assignments[0].count, 3);
  EXPECT_TRUE(HasCondition(Find("w-replica-1"), kFinished));
}

TEST_F(ResizePlanTest, NamesWhatIsWrong) {
  Elastic("w", OnHosts({{"a1", 2}}));
  EXPECT_EQ(ErrorOf({{"team", "v"}, {}}), "workload team/v is not in the input");
  EXPECT_EQ(ErrorOf({{"team", "w"}, {{"mian", 3}}}),
            "workload team/w has no pod set \"mian\"; it has main");
  EXPECT_EQ(ErrorOf({{"team", "w"}, {{"main", -1}}}),
            "the count of pod set \"main\" is -1; it lies in 0 to 2147483647");
  EXPECT_THAT(ErrorOf({{"team", "w"}, {{"main", std::int64_t{1} << 40}}}), HasSubstr("lies in"));
  EXPECT_EQ(ErrorOf({{"team", "w"}, {{"main", 3}, {"main", 4}}}),
            "pod set \"main\" is given two counts");
  Workload replica = MakeWorkload("w-replica-1", "gpu", {});
  replica.owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "v", "uid-v", true}};
  cluster_.workloads.push_back(replica);
  EXPECT_EQ(ErrorOf({{"team", "w-replica-1"}, {}}),
            "workload team/w-replica-1 is a slice of a workload that is not in the input, or has "
            "finished");
  SetCondition(cluster_.workloads[0], {"Finished", "True", "", ""});
  EXPECT_EQ(ErrorOf({{"team", "w"}, {}}), "workload team/w has finished");
}

}  // namespace
}  // namespace espalier::resize_plan_test
