#include "host/kueue/cycle/workload_queue.hpp"

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::workload_queue_test {
namespace {

class WorkloadQueueTest : public ::testing::Test {
 protected:
  WorkloadQueueTest()
      : workloads_{MakeWorkload("young", "gpu", {}, 2), MakeWorkload("old", "gpu", {}, 1)} {}

  std::vector<Workload> workloads_;
  ClusterQueue queue_ = MakeQueue("q", {"gpu"});
};

TEST_F(WorkloadQueueTest, PopsInQueueOrder) {
  WorkloadQueue queue(queue_, workloads_);
  queue.Push(0);
  queue.Push(1);
  EXPECT_EQ(queue.Pop(), 1U);
  EXPECT_EQ(queue.Pop(), 0U);
  EXPECT_EQ(queue.Pop(), std::nullopt);
}

TEST_F(WorkloadQueueTest, BestEffortSetsAsideUntilFlushed) {
  WorkloadQueue queue(queue_, workloads_);
  queue.Push(0);
  queue.Push(1);
  queue.Park(*queue.Pop());
  EXPECT_EQ(queue.Pop(), 0U);
  EXPECT_EQ(queue.Pop(), std::nullopt);
  queue.Flush();
  EXPECT_EQ(queue.Pop(), 1U);
}

TEST_F(WorkloadQueueTest, StrictLetsNobodyPassTheHead) {
  queue_.queueing_strategy = "StrictFIFO";
  WorkloadQueue queue(queue_, workloads_);
  queue.Push(0);
  queue.Push(1);
  queue.Park(*queue.Pop());
  EXPECT_EQ(queue.Pop(), std::nullopt);
  queue.Flush();
  EXPECT_EQ(queue.Pop(), 1U);
}

TEST_F(WorkloadQueueTest, FlushStartsAgainFromTheFirstFlavor) {
  WorkloadQueue queue(queue_, workloads_);
  queue.SetNextFlavors(1, {{{"main", 0}, 1}});
  EXPECT_EQ(queue.NextFlavors(1).size(), 1U);
  EXPECT_TRUE(queue.NextFlavors(0).empty());
  queue.Flush();
  EXPECT_TRUE(queue.NextFlavors(1).empty());
}

}  // namespace
}  // namespace espalier::workload_queue_test
