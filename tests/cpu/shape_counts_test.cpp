// How much is counted again after usage changed.
#include "fallback_cpu/shape_counts.hpp"

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "host/engine/request_resolution.hpp"
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
