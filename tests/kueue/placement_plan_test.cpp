#include "host/kueue/planning/placement_plan.hpp"

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::placement_plan_test {
namespace {

class PlacementPlanTest : public ::testing::Test {
 protected:
  Workload& Add(const std::string& name, const std::string& queue) {
    return cluster_.workloads.emplace_back(
        MakeWorkload(name, queue, {MakePodSet("main", 2, {{"cpu", 1000}})}, created_++));
  }
  PlacementPlan Plan() {
    auto plan = PlanPlacement(cluster_, options_);
    EXPECT_TRUE(plan.has_value());
    return *std::move(plan);
  }
  std::string RefusalOfTheOnlyOne() {
    const PlacementPlan plan = Plan();
    EXPECT_EQ(plan.workloads.size(), 1U);
    return std::get<RefusedWorkload>(plan.workloads[0].plan).reason;
  }

  Cluster cluster_ = MakeCluster();
  PlacementPlanOptions options_;
  std::int64_t created_ = 0;
};

TEST_F(PlacementPlanTest, PendingWorkloadsInQueueOrder) {
  Add("low", "gpu");
  Add("high", "gpu").priority = 10;
  const PlacementPlan plan = Plan();
  ASSERT_EQ(plan.workloads.size(), 2U);
  EXPECT_EQ(plan.workloads[0].index, 1U);
  EXPECT_EQ(plan.workloads[0].cluster_queue, "gpu-queue");
  const auto& request = std::get<WorkloadRequest>(plan.workloads[0].plan);
  EXPECT_EQ(request.key.name, "high");
  EXPECT_EQ(request.pod_sets[0].flavor, "gpu");
  EXPECT_FALSE(request.simulate_empty);
  EXPECT_EQ(plan.state.nodes.size(), 4U);
}

TEST_F(PlacementPlanTest, IgnoresQuotaAndStoppedQueues) {
  cluster_.cluster_queues[0] = MakeQueue("gpu-queue", {"gpu"}, 0, 0);
  cluster_.cluster_queues[0].stop_policy = "Hold";
  Add("w", "gpu");
  EXPECT_TRUE(std::holds_alternative<WorkloadRequest>(Plan().workloads[0].plan));
}

TEST_F(PlacementPlanTest, NothingToPlaceWithoutATopology) {
  Add("w", "cpu");
  const PlacementPlan plan = Plan();
  EXPECT_EQ(std::get<NothingToPlace>(plan.workloads[0].plan).reason,
            "no topology: nothing to place");
}

TEST_F(PlacementPlanTest, RefusalOfTheFlavorChoice) {
  Add("w", "cpu").pod_sets[0].topology_request = Required(kRack);
  EXPECT_EQ(RefusalOfTheOnlyOne(),
            "couldn't assign flavors to pod set main: Flavor \"cpu\" does not support "
            "TopologyAwareScheduling");
}

TEST_F(PlacementPlanTest, AQueueThatIsNotThereIsAReason) {
  Add("w", "unknown");
  EXPECT_EQ(RefusalOfTheOnlyOne(),
            "LocalQueue team/unknown is not in the input; there are cpu, gpu");
  cluster_.local_queues.push_back(MakeLocalQueue("unknown", "lost"));
  EXPECT_TRUE(RefusalOfTheOnlyOne().starts_with("ClusterQueue lost, where LocalQueue"));
}

TEST_F(PlacementPlanTest, OnRequestTheOnlyTasFlavorIsGuessed) {
  options_.guess_flavor = true;
  Add("w", "unknown").pod_sets.push_back(MakePodSet("no-requests", 1, {}));
  const PlacementPlan plan = Plan();
  const auto& request = std::get<WorkloadRequest>(plan.workloads[0].plan);
  EXPECT_EQ(plan.workloads[0].cluster_queue, "");
  EXPECT_EQ(plan.workloads[0].guessed_flavor, "gpu");
  ASSERT_EQ(request.pod_sets.size(), 2U);
  EXPECT_EQ(request.pod_sets[1].flavor, "gpu");
  EXPECT_TRUE(request.pod_sets[1].implied);
}

TEST_F(PlacementPlanTest, NothingIsGuessedForAKnownQueue) {
  options_.guess_flavor = true;
  Add("w", "gpu");
  EXPECT_EQ(Plan().workloads[0].guessed_flavor, "");
}

TEST_F(PlacementPlanTest, TheGuessedFlavorMustStillMatch) {
  options_.guess_flavor = true;
  Add("w", "unknown").pod_sets[0].topology_request = Required("block");
  EXPECT_EQ(RefusalOfTheOnlyOne(),
            "couldn't assign flavors to pod set main: Flavor \"gpu\" does not contain the "
            "requested level");
}

TEST_F(PlacementPlanTest, OfSeveralFlavorsNoneIsGuessed) {
  options_.guess_flavor = true;
  cluster_.flavors.push_back(MakeFlavor("gpu2", "default"));
  Add("w", "unknown");
  EXPECT_EQ(RefusalOfTheOnlyOne(),
            "LocalQueue team/unknown is not in the input; there are cpu, gpu; no flavor can be "
            "guessed, as 2 have a topology and exactly one must");
}

TEST_F(PlacementPlanTest, OneWorkloadOnAnEmptyCluster) {
  Add("a", "gpu");
  Add("b", "gpu");
  options_.only = ObjectKey{"team", "b"};
  options_.simulate_empty = true;
  const PlacementPlan plan = Plan();
  ASSERT_EQ(plan.workloads.size(), 1U);
  EXPECT_EQ(plan.workloads[0].index, 1U);
  EXPECT_TRUE(std::get<WorkloadRequest>(plan.workloads[0].plan).simulate_empty);
}

TEST_F(PlacementPlanTest, TheOneWorkloadMustBePending) {
  Admit(Add("b", "gpu"), "gpu-queue", "gpu", OnHosts({{"a1", 2}}));
  options_.only = ObjectKey{"team", "b"};
  EXPECT_EQ(PlanPlacement(cluster_, options_).error().message,
            "workload team/b is not pending (it has a quota reservation)");
  options_.only = ObjectKey{"team", "c"};
  EXPECT_EQ(PlanPlacement(cluster_, options_).error().error_class, ErrorClass::kNotFound);
}

}  // namespace
}  // namespace espalier::placement_plan_test
