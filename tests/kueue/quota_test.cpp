#include "host/kueue/cycle/quota.hpp"

#include <gtest/gtest.h>

#include "tests/kueue/objects.hpp"

namespace espalier::quota_test {
namespace {

TEST(Quota, AddsAndRemovesUsage) {
  Quota quota(MakeQueue("q", {"gpu"}, 500, 8));
  EXPECT_EQ(quota.Nominal({"gpu", "cpu"}), 500);
  EXPECT_EQ(quota.Nominal({"gpu", "memory"}), 0);
  quota.Add({{{"gpu", "cpu"}, 300}});
  quota.Add({{{"gpu", "cpu"}, 10}});
  quota.Remove({{{"gpu", "cpu"}, 300}});
  EXPECT_EQ(quota.Used({"gpu", "cpu"}), 10);
  EXPECT_EQ(quota.Used({"gpu", "gpu"}), 0);
}

TEST(QuotaUsageOf, ReclaimablePodsReduceIt) {  // R20.5
  Workload workload = MakeWorkload("w", "gpu", {MakePodSet("main", 4, {{"cpu", 100}})});
  EXPECT_TRUE(QuotaUsageOf(workload).empty());
  Admit(workload, "q", "gpu", OnHosts({{"a1", 4}}));
  EXPECT_EQ(QuotaUsageOf(workload), (QuotaUsage{{{"gpu", "cpu"}, 400}}));
  workload.reclaimable_pods = {{"main", 3}};
  EXPECT_EQ(QuotaUsageOf(workload), (QuotaUsage{{{"gpu", "cpu"}, 100}}));
  workload.reclaimable_pods = {{"main", 9}};
  EXPECT_EQ(QuotaUsageOf(workload), (QuotaUsage{{{"gpu", "cpu"}, 0}}));
}

TEST(QuotaUsageOf, FinishedWorkloadsUseNothing) {
  Workload workload = MakeWorkload("w", "gpu", {MakePodSet("main", 4, {{"cpu", 100}})});
  Admit(workload, "q", "gpu", OnHosts({{"a1", 4}}));
  SetCondition(workload, {"Finished", "True", "", ""});
  EXPECT_TRUE(QuotaUsageOf(workload).empty());
}

}  // namespace
}  // namespace espalier::quota_test
