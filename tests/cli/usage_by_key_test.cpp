// Tests which usage of a cluster's files a server gets by key, and which as totals.
#include "host/live/usage_by_key.hpp"

#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::usage_by_key_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::SizeIs;

class TakeUsageByKeyTest : public testing::Test {
 protected:
  Workload& Add(const std::string& name, std::int64_t priority, Amount gpus) {
    Workload& workload = cluster_.workloads.emplace_back(
        MakeWorkload(name, "gpu", {MakePodSet("main", 1, {{"gpu", gpus}}, Required(kRack))},
                     std::ssize(cluster_.workloads), priority));
    Admit(workload, "gpu-queue", "gpu", OnHosts({{"a1", 1}}));
    return workload;
  }

  void Take() {
    input_ = BuildClusterStateInput(cluster_, {});
    by_key_ = TakeUsageByKey(cluster_, input_);
  }

  Cluster cluster_ = MakeCluster();
  ClusterStateInput input_;
  std::vector<AdmittedUsage> by_key_;
};

TEST_F(TakeUsageByKeyTest, OfEveryAdmittedWorkload) {
  Add("a", 7, 1).conditions.front().since_seconds = 90;
  cluster_.workloads.push_back(MakeWorkload("waits", "gpu", {MakePodSet("main", 1, {{"gpu", 1}})}));
  Take();
  ASSERT_THAT(by_key_, SizeIs(1));
  EXPECT_EQ(by_key_[0].key.ToString(), "team/a");
  EXPECT_EQ(by_key_[0].priority, 7);
  EXPECT_EQ(by_key_[0].quota_reserved_seconds, 90);
  EXPECT_THAT(by_key_[0].usage,
              ElementsAre(FlavorLeafUsage{"gpu", "a1", {{"gpu", 1}, {"pods", 1}}}));
  EXPECT_THAT(input_.tas_usage, IsEmpty());
}

// W5.5: they go as one.
TEST_F(TakeUsageByKeyTest, OfAllSlicesOfAJobUnderTheNewest) {
  Add("train", 0, 1);
  Add("train-slice-2", 0, 2).annotations = {{std::string(kSliceReplacementFor), "team/train"}};
  Take();
  ASSERT_THAT(by_key_, SizeIs(1));
  EXPECT_EQ(by_key_[0].key.ToString(), "team/train-slice-2");
  EXPECT_THAT(by_key_[0].usage, SizeIs(2));
  EXPECT_THAT(input_.tas_usage, IsEmpty());
}

TEST_F(TakeUsageByKeyTest, LeavesWhatAServerRefusesInTheTotals) {
  Add("much", 0, kMostAdmitted + 1);
  Add("negative", 0, -1);
  Add("urgent", std::numeric_limits<std::int64_t>::max(), 1);
  Add("twice", 0, 1);
  Add("twice", 0, 2);
  Take();
  ASSERT_THAT(by_key_, SizeIs(1));  // of one name: of one job
  EXPECT_EQ(by_key_[0].key.name, "twice");
  EXPECT_THAT(by_key_[0].usage, SizeIs(2));
  EXPECT_THAT(input_.tas_usage, SizeIs(3));
}

}  // namespace
}  // namespace espalier::usage_by_key_test
