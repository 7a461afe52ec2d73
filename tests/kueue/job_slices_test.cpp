#include "host/kueue/elastic/job_slices.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "host/kueue/elastic/workload_slices.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "tests/kueue/objects.hpp"

namespace espalier::job_slices_test {
namespace {

using ::testing::ElementsAre;

class JobSlicesTest : public testing::Test {
 protected:
  Workload& Add(const std::string& name) {
    return workloads_.emplace_back(MakeWorkload(name, "gpu", {}));
  }

  std::vector<Workload> workloads_;
};

TEST_F(JobSlicesTest, OfOneChain) {  // W5.5
  workloads_.reserve(8);
  Add("a");
  Add("b");
  Add("a-slice-2").annotations = {{std::string(kSliceReplacementFor), "team/a"},
                                  {std::string(kSliceNameAnnotation), "a"}};
  Add("a-slice-3").annotations = {{std::string(kSliceNameAnnotation), "a"}};
  Add("a-replica-1").owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "a", "uid-a", true}};
  EXPECT_THAT(SlicesByJob(workloads_), ElementsAre(ElementsAre(0, 2, 3, 4), ElementsAre(1)));
  EXPECT_THAT(SlicesOf(3, workloads_), ElementsAre(0, 2, 3, 4));
  EXPECT_TRUE(Replaces(workloads_[2], workloads_[0]));
  EXPECT_FALSE(Replaces(workloads_[0], workloads_[2]));
}

TEST_F(JobSlicesTest, ElasticOnesOfOneOwner) {
  const OwnerReference job{"batch/v1", "Job", "job", "uid-job", true};
  workloads_.reserve(8);
  Add("a").owners = {job};
  Add("b").owners = {job};
  EXPECT_THAT(SlicesByJob(workloads_), ElementsAre(ElementsAre(0), ElementsAre(1)));
  for (Workload& workload : workloads_) {
    workload.annotations = {{std::string(kElasticJobAnnotation), "true"}};
  }
  EXPECT_THAT(SlicesByJob(workloads_), ElementsAre(ElementsAre(0, 1)));
  workloads_[1].key.namespace_ = "other";
  EXPECT_THAT(SlicesByJob(workloads_), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

TEST_F(JobSlicesTest, TheUnfinishedOnesOldestFirst) {
  workloads_.reserve(8);
  Add("a").creation_seconds = 5;
  Add("a-slice-2").annotations = {{std::string(kSliceReplacementFor), "team/a"}};
  Add("a-replica-2").owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "a", "uid-a", true}};
  Add("a-replica-1").owners = {{"kueue.x-k8s.io/v1beta2", "Workload", "a", "uid-a", true}};
  Add("a-slice-1").conditions = {{std::string(kFinished), "True", "WorkloadSliceReplaced", ""}};
  UnfinishedSlices unfinished = UnfinishedOf({0, 1, 2, 3, 4}, workloads_);
  EXPECT_THAT(unfinished.chain, ElementsAre(0, 1));  // although it says that it is younger
  EXPECT_THAT(unfinished.replicas, ElementsAre(3, 2));
  workloads_[0].annotations = {{std::string(kSliceReplacementFor), "team/a-slice-2"}};
  EXPECT_THAT(UnfinishedOf({0, 1}, workloads_).chain, ElementsAre(1, 0));  // by age alone
}

TEST_F(JobSlicesTest, ManyThatReplaceEachOtherInARingHaveAnOrder) {
  for (int i = 0; i < 40; ++i) {
    Workload& workload = Add(fmt::format("s{}", i));
    workload.creation_seconds = i * 7 % 40;
    workload.annotations = {
        {std::string(kSliceReplacementFor), fmt::format("team/s{}", (i + 1) % 40)}};
  }
  const UnfinishedSlices unfinished = UnfinishedOf(SlicesOf(3, workloads_), workloads_);
  ASSERT_EQ(unfinished.chain.size(), 40U);
  for (std::size_t i = 1; i < 40; ++i) {
    EXPECT_LT(workloads_[unfinished.chain[i - 1]].creation_seconds,
              workloads_[unfinished.chain[i]].creation_seconds);
  }
}

TEST_F(JobSlicesTest, AnotherNamespaceIsAnotherJob) {
  workloads_.reserve(8);
  Add("a");
  Workload& other = Add("b");
  other.key.namespace_ = "other";
  other.annotations = {{std::string(kSliceReplacementFor), "team/a"}};
  EXPECT_THAT(SlicesByJob(workloads_), ElementsAre(ElementsAre(0), ElementsAre(1)));
}

}  // namespace
}  // namespace espalier::job_slices_test
