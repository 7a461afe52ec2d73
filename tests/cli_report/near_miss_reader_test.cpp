// Tests what a report says of the domain that comes nearest to a gang.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "service/cli/reports/reported_gangs.hpp"
#include "tests/server/small_cluster.hpp"

namespace espalier::near_miss_reader_test {
namespace {

using testing::IsEmpty;

class NearMissReaderTest : public testing::Test {
 protected:
  ReportedGang Read(const WorkloadRequest& request) {
    ReportedGang gang;
    reader_.Read(request, gang);
    return gang;
  }

  const ClusterState state_ = *ClusterState::Build(SmallCluster(2));
  const Engine engine_{MakeCpuBackend(1), {}};
  NearMissReader reader_{state_, engine_};
};

TEST_F(NearMissReaderTest, IsOfEveryGangHoweverManyWait) {
  for (std::int32_t gang = 0; gang < 3000; ++gang) {
    const ReportedGang read = Read(MakeGang(std::to_string(gang), 9 + gang));
    ASSERT_TRUE(read.nearest);
    EXPECT_EQ(read.nearest->fit, 8);
    EXPECT_EQ(read.nearest->pods, 9 + gang);
    EXPECT_EQ(read.nearest_when, "on what is left");
    EXPECT_THAT(read.reasons, IsEmpty());
  }
}

// Gangs that request the same share the search; whatever makes a difference is not the same.
TEST_F(NearMissReaderTest, IsThatOfTheRequest) {
  const WorkloadRequest gang = MakeGang("a", 9);
  std::vector<WorkloadRequest> requests(9, gang);
  requests[1].key.name = "b";
  requests[2].pod_sets[0].pod_template.labels = {{"job", "b"}};
  requests[3].pod_sets[0].count = 10;
  requests[4].pod_sets[0].requests = {{"cpu", 4001}};
  requests[5].pod_sets[0].requests = {{"gpu", 4000}};
  requests[6].pod_sets[0].topology_request->required = "block";  // fits
  requests[7].pod_sets[0].pod_template.node_selector = {{"disk", "ssd"}};
  requests[8].pod_sets[0].name = "other";
  for (const WorkloadRequest& request : requests) {
    const std::optional<NearMiss> miss = FindNearMiss(state_, request, engine_);
    const ReportedGang read = Read(request);
    ASSERT_EQ(read.nearest.has_value(), miss.has_value());
    if (!miss) continue;
    EXPECT_EQ(read.nearest->pod_set, miss->pod_set);
    EXPECT_EQ(read.nearest->domain, miss->domain);
    EXPECT_EQ(read.nearest->fit, miss->fit);
    EXPECT_EQ(read.nearest->pods, miss->pods);
    EXPECT_EQ(read.nearest->nodes_not_matching, miss->nodes_not_matching);
    ASSERT_EQ(read.nearest->binding.size(), miss->binding.size());
    for (std::size_t i = 0; i < miss->binding.size(); ++i) {
      EXPECT_EQ(read.nearest->binding[i].resource, miss->binding[i].resource);
      EXPECT_EQ(read.nearest->binding[i].missing, miss->binding[i].missing);
    }
  }
}

}  // namespace
}  // namespace espalier::near_miss_reader_test
