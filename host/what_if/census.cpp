#include "host/what_if/census.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "host/engine/gang_batch.hpp"

namespace espalier {
namespace {

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

// Tells the gangs by level, of which there are as many as in `held`.
void TellLevels(const FlavorSnapshot& snapshot, const LevelCounts& held, GangCensus& census) {
  const TreeView tree = snapshot.tree();
  census.levels.push_back({{}, {}, census.pods / census.pods_of_gang});
  for (std::int32_t level = 0; level < tree.level_count; ++level) {
    const auto at = static_cast<std::size_t>(level);
    census.levels.push_back({snapshot.levels()[at], DomainsOf(tree, level), held[at]});
  }
}

}  // namespace

std::vector<GangCensus> CountGangs(const ClusterState& state, std::span<const PodSetRequest> gangs,
                                   CensusDetail detail, const FeatureGates& gates,
                                   Backend& backend) {
  std::vector<GangCensus> censuses(gangs.size());
  std::vector<PlacementJob> jobs;  // of an unconstrained gang: of every leaf, whose slices are pods
  std::vector<GangCensus*> of_job;
  for (std::size_t i = 0; i < gangs.size(); ++i) {
    if (auto job = JobOfGang(state, gangs[i], gates, censuses[i])) {
      censuses[i].pods_of_gang = gangs[i].count;
      of_job.push_back(&censuses[i]);
      jobs.push_back(*std::move(job));
    }
  }
  std::vector<LevelCounts> held(jobs.size());
  std::vector<DomainReading> readings;
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    DomainReading& reading = readings.emplace_back();
    reading.job = i;
    reading.asked = {.slices = of_job[i]->pods_of_gang,
                     .repeatedly = true,
                     .last_level = jobs[i].state->snapshot().tree().lowest()};
    reading.held = held[i].data();
    reading.slices = &of_job[i]->pods;
  }
  CountsVisitor keep;
  if (detail == CensusDetail::kDomains) {
    keep = [&](std::size_t i, const CountsView& counts) {
      const std::int32_t domains = jobs[i].state->snapshot().domain_count();
      of_job[i]->pods_by_domain.assign(counts.pods, counts.pods + domains);
    };
  }
  backend.CountEach(jobs, readings, keep);
  for (std::size_t i = 0; i < jobs.size(); ++i) {
    TellLevels(jobs[i].state->snapshot(), held[i], *of_job[i]);
  }
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
