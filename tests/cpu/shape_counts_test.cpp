// How much is counted again after usage changed.
#include "fallback_cpu/shape_counts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/engine/request_resolution.hpp"
#include "tests/differential/random.hpp"
#include "tests/engine/requests.hpp"
#include "tests/packing/clusters.hpp"

namespace espalier {
namespace {

ClusterState Racks(int racks) {
  std::vector<std::pair<std::string, Amount>> hosts;
  for (int rack = 0; rack < racks; ++rack) {
    for (int host = 0; host < 4; ++host) {
      hosts.emplace_back(fmt::format("r{:05}/h{:05}-{}", rack, rack, host), 8);
    }
  }
  return BuildState(Gpus(hosts));
}

PlacementJob JobOn(const FlavorState& state, std::string level) {
  const PodSetRequest pod_set = MakePodSet(1, Preferred(std::move(level)));
  const auto resolved = ResolveRequest(pod_set, state.snapshot(), {});
  PlacementJob job;
  job.state = &state;
  job.query = resolved->query;
  job.shape = MakeShape(*resolved, pod_set, nullptr, state.snapshot());
  job.replacement_domain = {0, state.snapshot().leaf_count()};
  return job;
}

class ShapeCountsTest : public ::testing::TestWithParam<std::string> {};

TEST_P(ShapeCountsTest, CountsWhatChangedWhateverTheSizeOfTheCluster) {
  for (const int racks : {8, 64, 2048}) {
    SCOPED_TRACE(racks);
    ClusterState cluster = Racks(racks);
    FlavorState& state = *cluster.Find("tas");
    const PlacementJob job = JobOn(state, GetParam());
    CountsStorage leaves;
    ShapeCounts counts;
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.blocks_counted(), racks);
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.blocks_counted(), racks);
    // Three leaves of two racks, one of them twice.
    for (const int leaf : {0, 1, 17, 17}) {
      state.Book(std::vector<LeafShare>{{LeafId(leaf), 0, 2}}, job.shape->workers, {});
    }
    counts.Refresh(job, leaves);
    EXPECT_EQ(counts.blocks_counted(), racks + 2);
    EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 4 * 8 - 4);
  }
}

INSTANTIATE_TEST_SUITE_P(Levels, ShapeCountsTest,
                         ::testing::Values("rack", std::string(kHostnameLabel)),
                         [](const auto& level) { return level.param == "rack" ? "Rack" : "Host"; });

TEST(ShapeCountsTest, TheSummaryOfLeavesFollowsWhatChanges) {
  ClusterState cluster = Racks(100);
  FlavorState& state = *cluster.Find("tas");
  const PlacementJob job = JobOn(state, std::string(kHostnameLabel));
  CountsStorage leaves, fresh_leaves;
  ShapeCounts counts;
  differential::Random random(1);
  for (int change = 0; change < 60; ++change) {
    SCOPED_TRACE(change);
    const LeafId leaf(static_cast<std::int32_t>(random.Between(0, 399)));
    state.Add(leaf, {{"gpu", random.Between(-3, 5)}});
    counts.Refresh(job, leaves);
    ShapeCounts fresh;
    fresh.Refresh(job, fresh_leaves);
    const LeafSummary* summary = counts.SourceFor(job, leaves).stored().leaf_summary;
    const LeafSummary* expected = fresh.SourceFor(job, fresh_leaves).stored().leaf_summary;
    ASSERT_NE(summary, nullptr);
    ASSERT_TRUE(summary->usable());
    for (StoredCount need = 0; need <= expected->histogram().most() + 1; ++need) {
      EXPECT_EQ(summary->FirstTightest(need), expected->FirstTightest(need));
    }
    EXPECT_EQ(summary->histogram().Sum(), expected->histogram().Sum());
  }
}

// A rack that holds nothing cannot hold more while usage only grows.
TEST(ShapeCountsTest, LeavesEmptyRacksAloneUntilCapacityComesBack) {
  ClusterState cluster = Racks(8);
  FlavorState& state = *cluster.Find("tas");
  const PlacementJob job = JobOn(state, "rack");
  CountsStorage leaves;
  ShapeCounts counts;
  for (int leaf = 0; leaf < 4; ++leaf) state.Add(LeafId(leaf), {{"gpu", 8}});
  counts.Refresh(job, leaves);
  const std::int64_t all = counts.blocks_counted();
  EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 0);
  state.Add(LeafId(0), {{"gpu", 1}});
  counts.Refresh(job, leaves);
  EXPECT_EQ(counts.blocks_counted(), all);
  state.Remove(LeafId(0), {{"gpu", 4}});
  counts.Refresh(job, leaves);
  EXPECT_EQ(counts.blocks_counted(), all + 1);
  EXPECT_EQ(counts.SourceFor(job, leaves).stored().pods[0], 3);
}

}  // namespace
}  // namespace espalier
