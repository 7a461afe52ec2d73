#include "host/what_if/census.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/engine/gang_batch.hpp"
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

// Resolves a gang on its flavor. Returns what is to be counted, or nothing where that fails, which
// the census says then.
std::optional<PlacementJob> JobOfGang(const ClusterState& state, const PodSetRequest& gang,
                                      const FeatureGates& gates, GangCensus& census) {
  GangShape specification{gang, std::nullopt};
  specification.workers.topology_request = TopologyRequest{.unconstrained = true};
  const auto [specified, failure, resolved] = Resolve(std::move(specification), state, gates);
  if (!failure.empty()) {
    census.failure = failure;
    return std::nullopt;
  }
  const FlavorState& flavor = *state.Find(gang.flavor);
  return MakeJob(resolved, flavor, flavor.snapshot().FilterOf(*resolved.shape), gang.count);
}

// Reads what the domains of a flavor hold of a gang.
void ReadCounts(const FlavorSnapshot& snapshot, const CountsView& counts, CensusDetail detail,
                GangCensus& census) {
  const TreeView tree = snapshot.tree();
  census.pods = SumPods(counts.pods, {0, tree.LevelEnd(0)});
  census.levels.push_back({{}, {}, census.pods / census.pods_of_gang});
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    const DomainRange domains = DomainsOf(tree, level);
    const std::span pods(counts.pods + domains.begin, static_cast<std::size_t>(domains.size()));
    census.levels.push_back({snapshot.levels()[static_cast<std::size_t>(level)], domains,
                             GangsIn(pods, census.pods_of_gang)});
  }
  if (detail == CensusDetail::kDomains) {
    census.pods_by_domain.assign(counts.pods, counts.pods + tree.domain_count());
  }
}

}  // namespace

std::vector<GangCensus> CountGangs(const ClusterState& state, std::span<const PodSetRequest> gangs,
                                   CensusDetail detail, const FeatureGates& gates,
                                   Backend& backend) {
  std::vector<GangCensus> censuses(gangs.size());
  std::vector<PlacementJob> jobs;  // of an unconstrained gang, which reads every leaf
  std::vector<GangCensus*> of_job;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    if (auto job = JobOfGang(state, gangs[i], gates, censuses[i])) {
      censuses[i].pods_of_gang = gangs[i].count;
      of_job.push_back(&censuses[i]);
      jobs.push_back(*std::move(job));
    }
  }
  backend.CountEach(jobs, [&](std::size_t i, const CountsView& counts) {
    ReadCounts(jobs[i].state->snapshot(), counts, detail, *of_job[i]);
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
