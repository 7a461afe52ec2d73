#include "host/what_if/census.hpp"

#include <algorithm>
#include <utility>

#include "host/engine/gang_batch.hpp"
#include "host/packing/parallel_for.hpp"
#include "kernels/decisions/roll_up.hpp"

namespace espalier {
namespace {

// The gangs that fit in some domains, each in one of them.
Count GangsIn(std::span<const StoredCount> pods, Count pods_of_gang) {
  Count gangs = 0;
  if (pods.empty() || std::ranges::max(pods) < pods_of_gang) return gangs;
  // Both numbers are of 31 bits: what is less than a whole number by any part of `pods_of_gang`
  // stays less as a double. Several are divided at once so.
  const auto size = static_cast<double>(pods_of_gang);
  for (const StoredCount of_domain : pods) {
    gangs += static_cast<StoredCount>(static_cast<double>(of_domain) / size);
  }
  return gangs;
}

GangCensus CountGang(const ClusterState& state, const PodSetRequest& gang, CensusDetail detail,
                     const FeatureGates& gates, const Backend& backend) {
  GangCensus census;
  GangShape specification{gang, std::nullopt};
  specification.workers.topology_request = TopologyRequest{.unconstrained = true};
  const auto [specified, failure, resolved] = Resolve(std::move(specification), state, gates);
  if (!failure.empty()) {
    census.failure = failure;
    return census;
  }
  const FlavorState& flavor = *state.Find(gang.flavor);
  const FlavorSnapshot& snapshot = flavor.snapshot();
  const PlacementJob job =
      MakeJob(resolved, flavor, snapshot.FilterOf(*resolved.shape), gang.count);
  thread_local CountsStorage reused;  // as large as the largest flavor
  CountsStorage& counts = detail == CensusDetail::kDomains ? census.counts : reused;
  backend.CountDomains(job, counts);
  census.pods_of_gang = gang.count;
  const TreeView tree = snapshot.tree();
  census.pods = SumPods(counts.pods(), {0, tree.LevelEnd(0)});
  census.levels.push_back({{}, {}, census.pods / gang.count});
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    const DomainRange domains{tree.LevelBegin(level), tree.LevelEnd(level)};
    const std::span pods(counts.pods() + domains.begin, static_cast<std::size_t>(domains.size()));
    census.levels.push_back(
        {snapshot.levels()[static_cast<std::size_t>(level)], domains, GangsIn(pods, gang.count)});
  }
  return census;
}

}  // namespace

std::vector<GangCensus> CountGangs(const ClusterState& state, std::span<const PodSetRequest> gangs,
                                   CensusDetail detail, const FeatureGates& gates,
                                   const Backend& backend) {
  std::vector<GangCensus> censuses(gangs.size());
  std::size_t leaves = 0;
  for (const PodSetRequest& gang : gangs) {
    const FlavorState* flavor = state.Find(gang.flavor);
    if (flavor != nullptr) leaves += static_cast<std::size_t>(flavor->snapshot().leaf_count());
  }
  ParallelFor(gangs.size(), leaves, [&](std::size_t i) {
    censuses[i] = CountGang(state, gangs[i], detail, gates, backend);
  });
  return censuses;
}

Result<Count> CountByPlacing(const Engine& engine, const ClusterState& state,
                             const WorkloadRequest& request, Count most) {
  Result<ClusterState> branch = state.Branch(engine.budget());
  if (!branch) return tl::unexpected(branch.error());
  Count placed = 0;
  for (Count at_once = 1; placed < most; at_once *= 2) {
    const std::vector<WorkloadRequest> copies(
        static_cast<std::size_t>(std::min(at_once, most - placed)), request);
    for (const WorkloadAnswer& answer : engine.PlaceInOrder(*branch, copies)) {
      if (!Fits(answer)) return placed;
      ++placed;
    }
    if (auto check = engine.budget().Check(); !check) return tl::unexpected(check.error());
  }
  return placed;
}

}  // namespace espalier
