// Workloads that grow by a slice for each new replica (KEP-77).
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/elastic/folded_slices.hpp"
#include "tests/kueue/resize_plan_fixture.hpp"

namespace espalier::slices_per_replica_test {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Pair;

class ResizeOfReplicaSlicesTest : public ResizePlanTest {
 protected:
  ResizeOfReplicaSlicesTest() { mode_ = SliceMode::kPerReplica; }
};

TEST_F(ResizeOfReplicaSlicesTest, SlicesPerReplicaMaySucceedInPart) {  // W8.9, W5.7
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 4);
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan plan = Plan("w", 6);
  EXPECT_EQ(plan.decision, ResizeDecision::kSlicesPerReplica);
  ASSERT_EQ(plan.slices.size(), 4U);
  for (std::size_t i = 0; i < 4; ++i) {
    const PlannedSlice& slice = plan.slices[i];
    EXPECT_EQ(slice.workload.key.name, "w-replica-" + std::to_string(i + 1));
    EXPECT_EQ(slice.workload.owners[0].kind, "Workload");
    EXPECT_EQ(slice.workload.pod_sets[0].count, 1);
    EXPECT_EQ(slice.admitted, i < 2);
  }
  EXPECT_THAT(plan.counts, ElementsAre(Pair("main", 4)));
  EXPECT_EQ(plan.usage, (QuotaUsage{{{"gpu", "gpu"}, 4}}));
  EXPECT_TRUE(HasCondition(*plan.after, "ResizeRequested"));
  EXPECT_THAT(plan.reason, HasSubstr("insufficient unused quota"));

  CarryOut(plan, cluster_);
  const ResizePlan again = Plan("w", 6);  // the two that wait are not made twice
  ASSERT_EQ(again.slices.size(), 2U);
  EXPECT_EQ(again.slices[0].workload.key.name, "w-replica-3");
  EXPECT_FALSE(again.slices[0].admitted);

  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 8);
  const ResizePlan rest = Plan("w", 6);
  EXPECT_TRUE(rest.slices[1].admitted);
  EXPECT_FALSE(HasCondition(*rest.after, "ResizeRequested"));
  CarryOut(rest, cluster_);
  EXPECT_EQ(cluster_.workloads.size(), 1U);
  EXPECT_EQ(Find("w").pod_sets[0].count, 6);
}

TEST_F(ResizeOfReplicaSlicesTest, AnAdmittedReplicaIsFoldedOnce) {  // W5.7
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan plan = Plan("w", 3);
  ASSERT_TRUE(plan.slices[0].admitted);
  // The slice is still there, as when somebody stopped between two writes.
  cluster_.workloads.push_back(plan.slices[0].workload);
  const ResizePlan folded = Plan("w", 3);
  EXPECT_EQ(folded.decision, ResizeDecision::kNone);
  ASSERT_TRUE(folded.after);
  EXPECT_EQ(folded.after->pod_sets[0].count, 3);
  EXPECT_EQ(folded.after->admission, plan.after->admission);
  CarryOut(folded, cluster_);
  EXPECT_EQ(folded.usage, (QuotaUsage{{{"gpu", "gpu"}, 3}}));
  const ResizePlan again = Plan("w", 3);
  EXPECT_FALSE(again.after);
  EXPECT_THAT(again.counts, ElementsAre(Pair("main", 3)));
}

TEST_F(ResizeOfReplicaSlicesTest, AReplicaThatWasFoldedWaitsForNothing) {  // W5.7
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan grown = Plan("w", 4);
  ASSERT_EQ(grown.slices.size(), 2U);
  Workload waits = grown.slices[1].workload;
  waits.admission.reset();
  waits.conditions.clear();
  cluster_.workloads.push_back(grown.slices[0].workload);  // admitted, and not folded yet
  cluster_.workloads.push_back(waits);
  const ResizePlan plan = Plan("w", 5);
  EXPECT_THAT(plan.counts, ElementsAre(Pair("main", 5)));
  ASSERT_EQ(plan.slices.size(), 2U);
  EXPECT_EQ(plan.slices[0].workload.key.name, "w-replica-2");
  EXPECT_EQ(plan.slices[1].workload.key.name, "w-replica-3");
  EXPECT_TRUE(plan.slices[1].admitted);
}

TEST_F(ResizeOfReplicaSlicesTest, AReplicaThatGotItsUidIsFoldedOnce) {  // W5.7
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan plan = Plan("w", 3);
  CarryOut(plan, cluster_);
  Workload created = plan.slices[0].workload;
  created.uid = "uid-of-the-api-server";
  cluster_.workloads.push_back(created);
  const ResizePlan again = Plan("w", 3);
  EXPECT_EQ(again.decision, ResizeDecision::kNone);
  EXPECT_FALSE(again.after);
}

TEST_F(ResizeOfReplicaSlicesTest, AFoldedNameIsNotGivenAgain) {  // W5.7
  Elastic("w", OnHosts({{"a1", 2}})).annotations["kueue.x-k8s.io/folded-workload-slices"] =
      "w-replica-1,w-replica-7,uid";
  EXPECT_EQ(Plan("w", 3).slices[0].workload.key.name, "w-replica-8");
}

TEST_F(ResizeOfReplicaSlicesTest, FoldedCountsStayAtTheLimit) {  // R1.6
  Workload& parent = Elastic("w", OnHosts({{"a1", 2147483646}}));
  parent.pod_sets[0].count = 2147483646;
  Workload replica = MakeWorkload("w-replica-1", "gpu", parent.pod_sets);
  replica.pod_sets[0].count = 3;
  Admit(replica, "gpu-queue", "gpu", OnHosts({{"a1", 3}}));
  FoldedSlices folded(parent);
  folded.Fold(replica, parent);
  EXPECT_EQ(parent.pod_sets[0].count, 2147483647);
  EXPECT_EQ(parent.admission->pod_set_assignments[0].count, 2147483647);
  EXPECT_EQ(parent.admission->pod_set_assignments[0].topology_assignment,
            OnHosts({{"a1", 2147483647}}));
}

TEST_F(ResizeOfReplicaSlicesTest, CountsThatAreNotNamedStayAsFolded) {  // W5.7
  Elastic("w", OnHosts({{"a1", 2}}));
  const ResizePlan grown = Plan("w", 3);
  cluster_.workloads.push_back(grown.slices[0].workload);  // admitted, and not folded yet
  const Engine engine(MakeCpuBackend(1), gates_);
  const auto plan = PlanResize(cluster_, engine, {{"team", "w"}, {}, mode_, profile_});
  ASSERT_TRUE(plan);
  EXPECT_EQ(plan->decision, ResizeDecision::kNone);
  EXPECT_THAT(plan->counts, ElementsAre(Pair("main", 3)));
  EXPECT_EQ(plan->after->pod_sets[0].count, 3);
}

TEST_F(ResizeOfReplicaSlicesTest, SlicesPerReplicaAreRefusedWhereNoneCanBeAdmitted) {  // R20.3
  Elastic("w", OnHosts({{"a1", 2}}), Required(kRack));
  const ResizePlan plan = Plan("w", 4);
  EXPECT_EQ(plan.decision, ResizeDecision::kRefused);
  EXPECT_THAT(plan.reason, HasSubstr("required topology is not supported"));
  EXPECT_THAT(plan.slices, IsEmpty());
  EXPECT_THAT(plan.counts, ElementsAre(Pair("main", 2)));
  EXPECT_FALSE(plan.after);
}

TEST_F(ResizeOfReplicaSlicesTest, NoMoreSlicesPerReplicaThanSomebodyCanMake) {
  Elastic("w", OnHosts({{"a1", 2}}));
  EXPECT_EQ(ErrorOf({{"team", "w"}, {{"main", 2147483647}}, mode_, profile_}),
            "2147483645 slices per replica would be made; at most 10000 are at once");
}

}  // namespace
}  // namespace espalier::slices_per_replica_test
