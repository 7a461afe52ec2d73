// Scheduling cycles in which workloads end, are evicted or are evaluated once more.
#include <gmock/gmock.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "tests/kueue/scheduling_cycle_fixture.hpp"

namespace espalier::cycle_evictions_test {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class CycleEvictionsTest : public SchedulingCycleTest {
 protected:
  // Runs on both hosts of the rack r1, of which a2 is unhealthy.
  Workload& AddUnhealthy(const std::string& name, const TopologyAssignment& assignment,
                         std::int32_t gpus) {
    Workload& workload = Add(name, gpus);
    Admit(workload, "gpu-queue", "gpu", assignment);
    workload.unhealthy_nodes = {"a2"};
    cluster_.nodes[1].ready = false;
    return workload;
  }

  Workload& AddEvicted() { return AddUnhealthy("running", OnHosts({{"a1", 4}, {"a2", 4}}), 8); }

  static void MakeReplacement(Workload& slice, const std::string& old) {
    slice.annotations = {{std::string(kSliceReplacementFor), "team/" + old}};
  }
};

TEST_F(CycleEvictionsTest, NothingIsDecidedAboutASliceThatHasEnded_R21_9) {
  Admit(Add("filler", 11), "gpu-queue", "gpu", OnHosts({{"a1", 3}, {"b1", 4}, {"b2", 4}}));
  for (const char* name : {"first", "second"}) {
    AddUnhealthy(name, OnHosts({{"a2", 1}}), 1).pod_sets[0].topology_request = Unconstrained();
  }
  Workload& slice = Add("slice", 1, Unconstrained());
  slice.pod_sets[0].pod_template.requests = {{"cpu", 1000}};
  MakeReplacement(slice, "second");
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result),
              ElementsAre("1 first replaced", "1 second not-admitted", "1 slice assumed"));
  EXPECT_TRUE(HasCondition(result.cluster.workloads[2], kFinished));
}

TEST_F(CycleEvictionsTest, AnEvictedWorkloadWaitsWhereItsQueueIsHeld_R21_14) {
  AddEvicted();
  cluster_.local_queues[0].stop_policy = "Hold";
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running evicted"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("its LocalQueue team/gpu has stopPolicy Hold")));
}

TEST_F(CycleEvictionsTest, AnEvictedWorkloadThatIsNotActiveStaysOut_R21_14) {
  AddEvicted().active = false;
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running evicted"));
  EXPECT_THAT(result.notes, ElementsAre(HasSubstr("its spec.active is false")));
}

TEST_F(CycleEvictionsTest, AnEvictionEndsWithTheNextReservation) {
  Workload& workload = AddEvicted();
  workload.admission_checks = {{"check", "Ready", {}}};
  cluster_.cluster_queues[0].admission_checks = {"check"};
  cluster_.admission_checks = {{"check", "example.com/check", true}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running evicted", "2 running assumed"));
  const Workload& after = result.cluster.workloads[0];
  const Condition ended{std::string(kEvicted), "False", "QuotaReserved",
                        "Previously: Workload was evicted as there was no replacement for "
                        "unhealthy node(s): a2"};
  EXPECT_THAT(after.conditions, Contains(ended));
  EXPECT_EQ(after.admission_checks[0].state, "Pending");
  EXPECT_FALSE(HasCondition(after, kAdmitted)) << "its check has to become Ready once more";
}

TEST_F(CycleEvictionsTest, AnEvictedSliceEndsWhereAnotherReplacesIt) {
  AddEvicted();
  MakeReplacement(Add("slice", 8), "running");
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 running evicted", "1 slice assumed"));
  EXPECT_EQ(result.cluster.workloads[0].conditions.back().reason, "OutOfSync");
}

TEST_F(CycleEvictionsTest, ASliceThatEndsWakesParkedWorkloads) {
  cluster_.nodes.resize(1);
  Admit(Add("old", 2), "gpu-queue", "gpu", OnHosts({{"a1", 2}}));
  Add("parked", 3).priority = 1;
  MakeReplacement(Add("slice", 1), "old");
  gates_.elastic_jobs_via_workload_slices_with_tas = true;
  EXPECT_THAT(Lines(Run()),
              ElementsAre("1 parked not-admitted", "2 slice assumed", "3 parked assumed"));
}

TEST_F(CycleEvictionsTest, AFailedSecondPassIsTriedAgainWhenThereIsRoom_R21_9) {
  gates_.failed_node_replacement_fail_fast = false;
  gates_.elastic_jobs_via_workload_slices_with_tas = true;
  cluster_.nodes.resize(2);
  Admit(Add("old", 4, Unconstrained()), "gpu-queue", "gpu", OnHosts({{"a1", 4}}));
  AddUnhealthy("running", OnHosts({{"a2", 1}}), 1);
  Workload& slice = Add("slice", 3, Unconstrained());
  MakeReplacement(slice, "old");
  slice.annotations.Set(kElasticJobAnnotation, "true");
  EXPECT_THAT(Lines(Run()),
              ElementsAre("1 running not-admitted", "1 slice assumed", "2 running replaced"));
}

TEST_F(CycleEvictionsTest, VictimsMakeRoomForTheDifferenceOfASlice_R21_13) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 4);
  cluster_.cluster_queues[0].within_cluster_queue = "LowerPriority";
  Admit(Add("old", 2), "gpu-queue", "gpu", OnHosts({{"a1", 2}}));
  Admit(Add("victim", 2), "gpu-queue", "gpu", OnHosts({{"a2", 2}}));
  cluster_.workloads[1].priority = -1;
  MakeReplacement(Add("slice", 4), "old");
  EXPECT_THAT(Run().notes, Contains("workload team/slice in ClusterQueue gpu-queue would have 1 "
                                    "preempted for it: team/victim"));
}

TEST_F(CycleEvictionsTest, SaysWhoIsLeftAsItIs) {
  AddEvicted().admission->cluster_queue = "gone";
  Add("inactive", 1).active = false;
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(result.decisions, IsEmpty());
  EXPECT_THAT(result.notes,
              ElementsAre("workload team/running is left on its unhealthy nodes: its ClusterQueue "
                          "gone is not in the input",
                          "workload team/inactive of ClusterQueue gpu-queue waits outside of its "
                          "queue: its spec.active is false"));
}

TEST_F(CycleEvictionsTest, OnlyTheChecksOfItsFlavorsCount_R21_9) {
  ClusterQueue& queue = cluster_.cluster_queues[0];
  queue.admission_checks = {"check", "of-other"};
  queue.admission_check_flavors = {{"of-other", {"other"}}};
  cluster_.flavors.push_back(MakeFlavor("other"));
  cluster_.admission_checks = {{"check", "kueue.x-k8s.io/provisioning-request", true},
                               {"of-other", "example.com/check", true}};
  Add("g1", 8);
  cluster_ = Run().cluster;
  cluster_.workloads[0].admission_checks = {{"check", "Ready", {}}};
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(Lines(result), ElementsAre("1 g1 assumed"));
  EXPECT_TRUE(HasCondition(result.cluster.workloads[0], kAdmitted));
}

// Lists of 37 and 29 flavors go round together after 1073 evaluations.
TEST_F(CycleEvictionsTest, TriesABoundedNumberOfCombinationsOfFlavors) {
  ClusterQueue& queue = cluster_.cluster_queues[0];
  queue.resource_groups.clear();
  for (const auto& [resource, flavors] : {std::pair("cpu", 37), std::pair("gpu", 29)}) {
    ResourceGroup& group = queue.resource_groups.emplace_back();
    group.covered_resources = {resource};
    for (int i = 0; i < flavors; ++i) {
      const std::string name = resource + std::to_string(i);
      cluster_.flavors.push_back(MakeFlavor(name));
      group.flavors.push_back({name, {{resource, 1'000'000, std::nullopt}}});
    }
  }
  Workload& workload = Add("g1", 1, std::nullopt);
  workload.pod_sets[0].pod_template.requests = {{"cpu", 1}, {"gpu", 1}};
  workload.pod_sets.push_back(MakePodSet("uncovered", 1, {{"other", 1}}));
  const SchedulingCyclesResult result = Run();
  EXPECT_THAT(result.decisions, SizeIs(1000));
  EXPECT_THAT(result.notes, Contains("workload team/g1 was tried on 1000 combinations of flavors; "
                                     "the others are left out"));
}

}  // namespace
}  // namespace espalier::cycle_evictions_test
