#include "host/engine/failure_text.hpp"

#include <gtest/gtest.h>

#include "host/model/go_texts.hpp"
#include "host/packing/flavor_state.hpp"
#include "tests/packing/states.hpp"

namespace espalier::failure_text_test {
namespace {

TEST(FailureTextTest, R18_1_GoQuoting) {
  EXPECT_EQ(Quoted("default"), "\"default\"");
  EXPECT_EQ(Quoted("a\"b\\c"), "\"a\\\"b\\\\c\"");
  EXPECT_EQ(Quoted("a\nb\tc\rd"), "\"a\\nb\\tc\\rd\"");
  EXPECT_EQ(Quoted(std::string_view("\x01\x7f", 2)), "\"\\x01\\x7f\"");
}

TEST(FailureTextTest, R18_5_NoSuffixWithoutExclusions) {
  ExclusionCounts counts;
  counts.total_nodes = 9;
  EXPECT_EQ(ExclusionSuffix(counts), "");
}

TEST(FailureTextTest, R18_5_EveryKindAtOnce) {
  ExclusionCounts counts;
  counts.total_nodes = 40;
  counts.node_selector = 1;
  counts.affinity = 2;
  counts.topology_domain = 3;
  counts.taints = {{"maint=true:NoSchedule", 4}, {"gpu:NoExecute", 5}};
  counts.resources = {{"pods", 6}, {"nvidia.com/gpu", 7}};
  EXPECT_EQ(ExclusionSuffix(counts),
            ". Total nodes: 40; excluded: affinity: 2, nodeSelector: 1, resource "
            "\"nvidia.com/gpu\": 7, resource \"pods\": 6, taint \"gpu:NoExecute\": 5, taint "
            "\"maint=true:NoSchedule\": 4, topologyDomain: 3");
}

// A job and its result, as a back end would hand them back.
class DescribeFailureTest : public ::testing::Test {
 protected:
  DescribeFailureTest() {
    job_.state = state_.Find("tas");
    job_.query.pods = 12;
    result_.status = PlacementStatus::kDoesNotFit;
  }

  std::string Reason(bool excluded) {
    PodShape shape;
    shape.workers = {{"gpu", "pods"}, {0, 1}, {1, 1}};
    shape.slice = job_.query.slice;
    job_.shape = std::make_shared<const PodShape>(shape);
    failed_.limited_by = {excluded ? 1 : 0, 0};
    return DescribeFailure(job_, result_).reason;
  }

  ClusterState state_ = BuildState(Gpus({{"b1/r1/n1", 4}, {"b1/r1/n2", 0}}));
  PlacementJob job_;
  FailedPlacement failed_;
  PlacementResult result_{.failed = &failed_};
};

TEST_F(DescribeFailureTest, C5_EveryFormOfTheNotFitText) {
  const std::string suffix = ". Total nodes: 2; excluded: resource \"gpu\": 1";
  for (const bool excluded : {false, true}) {
    const std::string end = excluded ? suffix : "";
    job_.query.slice.size = 1;
    failed_.total = 12;
    failed_.fit = 0;
    EXPECT_EQ(Reason(excluded), "topology \"default\" doesn't allow to fit any of 12 pod(s)" + end);
    failed_.fit = 4;
    EXPECT_EQ(Reason(excluded), "topology \"default\" allows to fit only 4 out of 12 pod(s)" + end);
    job_.query.slice.size = 4;
    failed_.total = 3;
    failed_.fit = 0;
    EXPECT_EQ(Reason(excluded),
              "topology \"default\" doesn't allow to fit any of 3 slice(s)" + end);
    failed_.fit = 1;
    EXPECT_EQ(Reason(excluded),
              "topology \"default\" allows to fit only 1 out of 3 slice(s)" + end);
  }
}

TEST_F(DescribeFailureTest, R18_6_OnePartPerLayer) {
  SliceRule& slice = job_.query.slice;
  slice.size = 8;
  slice.layer_count = 2;
  slice.layer_level[0] = 1;
  slice.layer_size[0] = 8;
  slice.layer_level[1] = 2;
  slice.layer_size[1] = 2;
  failed_.layer_fits = {0, 5};
  EXPECT_EQ(Reason(true),
            "topology \"default\" doesn't allow to fit; 0/1 slice(s) fit on level rack; 5/6 "
            "slice(s) fit on level kubernetes.io/hostname. Total nodes: 2; excluded: resource "
            "\"gpu\": 1");
}

TEST_F(DescribeFailureTest, R10_1_NoDomains) {
  result_.status = PlacementStatus::kNoDomains;
  result_.level = 1;
  const PlacementFailure failure = DescribeFailure(job_, result_);
  EXPECT_EQ(failure.reason, "no topology domains at level: rack");
  EXPECT_FALSE(failure.shortfall);
}

TEST_F(DescribeFailureTest, ShortfallCarriesTheNumbers) {
  failed_.fit = 4;
  failed_.total = 12;
  Reason(true);
  const PlacementFailure failure = DescribeFailure(job_, result_);
  ASSERT_TRUE(failure.shortfall);
  EXPECT_EQ(failure.shortfall->fit, 4);
  EXPECT_EQ(failure.shortfall->total, 12);
  EXPECT_EQ(failure.shortfall->exclusions.total_nodes, 2);
  EXPECT_EQ(failure.shortfall->exclusions.resources, (FlatMap<std::int64_t>{{"gpu", 1}}));
}

}  // namespace
}  // namespace espalier::failure_text_test
