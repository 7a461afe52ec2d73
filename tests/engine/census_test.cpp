#include "host/what_if/census.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/engine.hpp"
#include "tests/engine/requests.hpp"
#include "tests/generated/random.hpp"
#include "tests/packing/states.hpp"

namespace espalier::census_test {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<Count> GangsByLevel(const GangCensus& census) {
  std::vector<Count> gangs;
  for (const LevelCensus& level : census.levels) gangs.push_back(level.gangs);
  return gangs;
}

GangCensus CountOne(const ClusterState& state, const PodSetRequest& gang) {
  return CountGangs(state, {&gang, 1}, CensusDetail::kDomains, {}, *MakeCpuBackend(1)).front();
}

TEST(CountGangs, CountsWhatFitsSideBySideInEachDomain) {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r1/b", 3}, {"r2/c", 5}});
  input.tas_usage = {{"tas", "c", {{"gpu", 1}}}};
  const ClusterState state = BuildState(input);
  const GangCensus census = CountOne(state, MakePodSet(2));
  EXPECT_THAT(GangsByLevel(census), ElementsAre(5, 5, 5));  // anywhere, rack, host
  EXPECT_EQ(census.PodsIn(census.levels[1].domains.begin), 7);
  EXPECT_EQ(census.GangsIn(census.levels[1].domains.begin), 3);
  EXPECT_THAT(GangsByLevel(CountOne(state, MakePodSet(4))), ElementsAre(2, 2, 2));
  EXPECT_THAT(GangsByLevel(CountOne(state, MakePodSet(7))), ElementsAre(1, 1, 0));
}

TEST(CountGangs, OnlyOnNodesThatMatch_R7_1) {
  ClusterStateInput input = Gpus({{"r1/a", 4}, {"r1/b", 4}});
  input.nodes[0].labels.Set("disk", "ssd");
  PodSetRequest gang = MakePodSet(2);
  gang.pod_template.node_selector = {{"disk", "ssd"}};
  EXPECT_THAT(GangsByLevel(CountOne(BuildState(input), gang)), ElementsAre(2, 2, 2));
}

TEST(CountGangs, SaysWhyThereCanBeNone) {
  PodSetRequest gang = MakePodSet(2);
  gang.flavor = "gone";
  const GangCensus census = CountOne(BuildState(Gpus({{"r1/a", 4}})), gang);
  EXPECT_NE(census.failure, "");
  EXPECT_THAT(census.levels, IsEmpty());
}

// The census counts as many gangs as can be placed one after the other, at every level.
TEST(CountGangs, IsWhatPlacingThemFinds) {
  Random random(7);
  for (int round = 0; round < 200; ++round) {
    const ClusterStateInput input =
        MakeRacks({.racks = 4, .hosts = 3, .has = {{"gpu", {0, 8}}, {"pods", 110}}}, random);
    const auto pods = static_cast<std::int32_t>(random.Between(1, 9));
    const GangCensus census = CountOne(BuildState(input), MakePodSet(pods));
    const std::vector<TopologyRequest> requests = {Unconstrained(), Required("rack"),
                                                   Required(kHost)};
    for (std::size_t level = 0; level < requests.size(); ++level) {
      ClusterState state = BuildState(input);
      const Engine engine(MakeCpuBackend(1), {});
      const std::vector<WorkloadRequest> gangs(100,
                                               MakeWorkload({MakePodSet(pods, requests[level])}));
      Count placed = 0;
      for (const WorkloadAnswer& answer : engine.PlaceInOrder(state, gangs)) {
        placed += static_cast<Count>(answer.FirstFailure() == nullptr);
      }
      EXPECT_EQ(census.levels[level].gangs, placed) << "round " << round << " level " << level;
    }
  }
}

}  // namespace
}  // namespace espalier::census_test
