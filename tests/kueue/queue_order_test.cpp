#include "host/kueue/cycle/queue_order.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::queue_order_test {
namespace {

using ::testing::ElementsAre;

TEST(QueueOrder, PriorityThenAgeThenUid) {
  Cluster cluster;
  cluster.workloads = {
      MakeWorkload("young", "gpu", {}, 20, 5), MakeWorkload("old", "gpu", {}, 10, 5),
      MakeWorkload("urgent", "gpu", {}, 30, 9), MakeWorkload("same-age", "gpu", {}, 10, 5)};
  std::swap(cluster.workloads[3].uid, cluster.workloads[3].key.name);  // before uid-old
  EXPECT_THAT(PendingInQueueOrder(cluster), ElementsAre(2, 3, 1, 0));
}

TEST(QueueOrder, AnEvictionByACheckOrATimeoutGoesBehind_R21_6) {
  Cluster cluster;
  for (const char* reason : {"AdmissionCheck", "PodsReadyTimeout", "Preempted"}) {
    cluster.workloads.push_back(MakeWorkload(reason, "gpu", {}, 10));
    SetCondition(cluster.workloads.back(), {std::string(kEvicted), "True", reason, "", 30});
  }
  cluster.workloads.push_back(MakeWorkload("young", "gpu", {}, 20));
  EXPECT_THAT(PendingInQueueOrder(cluster), ElementsAre(2, 3, 0, 1));
  cluster.workloads[0].conditions[0].status = "False";  // it has had a reservation since
  EXPECT_THAT(PendingInQueueOrder(cluster), ElementsAre(0, 2, 3, 1));
}

TEST(QueueOrder, OnlyPendingWorkloads) {
  Cluster cluster;
  cluster.workloads.assign(4, MakeWorkload("w", "gpu", {MakePodSet("main", 1, {{"cpu", 1}})}));
  cluster.workloads[0].active = false;
  Admit(cluster.workloads[1], "gpu-queue", "gpu", OnHosts({{"a1", 1}}));
  SetCondition(cluster.workloads[2], {"Finished", "True", "", ""});
  SetCondition(cluster.workloads[3], {"QuotaReserved", "False", "", ""});
  EXPECT_THAT(PendingInQueueOrder(cluster), ElementsAre(3));
}

}  // namespace
}  // namespace espalier::queue_order_test
