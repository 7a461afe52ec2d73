// A device counts many shapes on many states as the CPU does leaf by leaf, reads of these counts
// what they tell, and questions about every domain have the same answers.
#include <algorithm>
#include <iterator>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "fallback_cpu/cpu_backend.hpp"
#include "host/engine/workload_placement.hpp"
#include "host/packing/flavor_state.hpp"
#include "host/what_if/atlas.hpp"
#include "host/what_if/census.hpp"
#include "tests/cuda/ask.hpp"
#include "tests/cuda/device_under_test.hpp"
#include "tests/cuda/gpu_cluster.hpp"
#include "tests/engine/asked_domains.hpp"
#include "tests/engine/counted.hpp"
#include "tests/generated/random.hpp"

namespace espalier::count_each_test {
namespace {

using CountsOfDevice = DeviceTest;

// Returns the first jobs of gangs, some with assumed usage, and some on empty nodes.
std::vector<PlacementJob> JobsOf(const std::vector<WorkloadRequest>& gangs,
                                 const ClusterState& state, Random& random) {
  const FlavorSnapshot& snapshot = state.Find("gpu")->snapshot();
  const FeatureGates gates;
  std::vector<PlacementJob> jobs;
  for (const WorkloadRequest& gang : gangs) {
    WorkloadPlacement placement(gang, state, gates);
    const PlacementJob* job = placement.NextJob();
    if (job == nullptr) continue;
    jobs.push_back(*job);
    if (!random.Chance(20)) continue;
    for (std::int32_t leaf = 0; leaf < snapshot.leaf_count(); ++leaf) {
      if (!random.Chance(10)) continue;
      AssumedLeaf assumed{LeafId(leaf), std::vector<Amount>(snapshot.resources().size(), 0)};
      assumed.amounts[static_cast<std::size_t>(snapshot.FindResource("nvidia.com/gpu"))] =
          random.Between(-2, 6);
      jobs.back().assumed.Mutable().push_back(std::move(assumed));
    }
  }
  return jobs;
}

// Several states in one batch: clusters, and branches of them that change between batches.
TEST_F(CountsOfDevice, AreThoseOfTheLeaves) {
  const auto cpu = MakeCpuBackend(2);
  for (std::uint64_t seed = 0; seed < 6; ++seed) {
    SCOPED_TRACE(seed);
    Random random(seed);
    const std::vector<WorkloadRequest> gangs = MakeGangs(40, seed);
    std::vector<ClusterState> states;
    states.push_back(Build(MakeGpuCluster(2, 3, 4, seed)));
    states.push_back(Build(MakeGpuCluster(3, 6, 16, seed + 100)));
    states.push_back(states.back().Branch());
    for (int round = 0; round < 3; ++round) {
      std::vector<PlacementJob> jobs;
      for (ClusterState& state : states) {
        std::ranges::move(JobsOf(gangs, state, random), std::back_inserter(jobs));
      }
      const std::vector<Counted> right = CountOneByOne(*cpu, jobs);
      const std::vector<Counted> on_device = CountEach(*backend_, jobs);
      const std::vector<Counted> on_cpu = CountEach(*cpu, jobs);
      for (std::size_t i = 0; i < jobs.size(); ++i) {
        ASSERT_EQ(on_device[i], right[i]) << "job " << i;
        ASSERT_EQ(on_cpu[i], right[i]) << "job " << i;
      }
      const AskedDomains asked(jobs, random);
      const std::vector<ReadOfDomains> read = asked.Expected(right);
      ExpectSame(asked.Ask(*backend_), read);
      ExpectSame(asked.Ask(*backend_, /*with_visitor=*/true), read);
      ExpectSame(asked.Ask(*cpu), read);
      ExpectSame(asked.Ask(*cpu, /*with_visitor=*/true), read);
      FlavorState& changed = *states.back().Find("gpu");
      for (int i = 0; i < 20 * round; ++i) {
        const LeafId leaf(
            static_cast<std::int32_t>(random.Between(0, changed.snapshot().leaf_count() - 1)));
        changed.Remove(leaf, {{"nvidia.com/gpu", random.Between(0, 2)}});
      }
      if (round == 1) states.back().ClassifyLeaves();
    }
  }
  ExpectAllOnDevice();
}

TEST_F(CountsOfDevice, OfNoJobsAreNone) {
  EXPECT_EQ(CountEach(*backend_, {}), std::vector<Counted>());
  EXPECT_EQ(backend_->status().jobs_on_device, 0u);
}

TEST_F(CountsOfDevice, ACensusIsTheSame) {
  const ClusterState state = Build(MakeGpuCluster(4, 16, 18, 1));
  std::vector<PodSetRequest> gangs;
  for (const WorkloadRequest& gang : MakeGangs(60, 2)) gangs.push_back(gang.pod_sets.front());
  const auto count = [&](CensusDetail detail, Backend& backend) {
    return CountGangs(state, gangs, detail, {}, backend);
  };
  const std::vector<GangCensus> right = count(CensusDetail::kDomains, *MakeCpuBackend(1));
  const std::vector<GangCensus> found = count(CensusDetail::kDomains, *backend_);
  const std::vector<GangCensus> by_level = count(CensusDetail::kLevels, *backend_);
  std::size_t with_room = 0;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].failure, right[i].failure);
    EXPECT_EQ(found[i].pods_by_domain, right[i].pods_by_domain);
    EXPECT_EQ(by_level[i].failure, right[i].failure);
    EXPECT_TRUE(by_level[i].pods_by_domain.empty());
    for (const GangCensus* census : {&found[i], &by_level[i]}) {
      EXPECT_EQ(census->pods, right[i].pods);
      ASSERT_EQ(census->levels.size(), right[i].levels.size());
      for (std::size_t level = 0; level < right[i].levels.size(); ++level) {
        EXPECT_EQ(census->levels[level].gangs, right[i].levels[level].gangs);
      }
    }
    with_room += right[i].pods > 0 ? 1 : 0;
  }
  EXPECT_GT(with_room, 20u);
  ExpectAllOnDevice();
}

TEST_F(CountsOfDevice, AnAtlasIsTheSame) {
  const ClusterStateInput cluster = MakeGpuCluster(4, 8, 16, 3);
  const ClusterState state = Build(cluster);
  const std::vector<WorkloadRequest> gangs = MakeGangs(80, 4);
  Random random(5);
  std::vector<Victim> victims;
  std::vector<std::int64_t> priorities;
  for (const FlavorLeafUsage& usage : cluster.tas_usage) {
    if (random.Chance(10)) continue;  // stays
    victims.push_back({fmt::format("victim-{}", victims.size()), {usage}});
    priorities.push_back(random.Between(0, 7));
  }
  const auto find = [&](const std::shared_ptr<Backend>& backend) {
    const Engine engine(backend, {});
    auto search = AtlasSearch::Open(engine, state, gangs, victims, priorities);
    EXPECT_TRUE(search) << search.error().message;
    return *search->Next();
  };
  const std::vector<AtlasRow> right = find(MakeCpuBackend(1));
  const std::vector<AtlasRow> found = find(backend_);
  ASSERT_EQ(found.size(), right.size());
  std::vector<std::size_t> of_step(10, 0);  // those of eight priorities, before and behind them
  for (std::size_t i = 0; i < right.size(); ++i) {
    SCOPED_TRACE(i);
    EXPECT_EQ(found[i].requests, right[i].requests);
    EXPECT_EQ(found[i].steps, right[i].steps);
    EXPECT_EQ(found[i].anywhere, right[i].anywhere);
    for (const PriorityStep step : right[i].steps) ++of_step[static_cast<std::size_t>(step)];
  }
  for (std::size_t step = 0; step < of_step.size(); ++step) EXPECT_GT(of_step[step], 0u) << step;
  ExpectAllOnDevice();
}

}  // namespace
}  // namespace espalier::count_each_test
