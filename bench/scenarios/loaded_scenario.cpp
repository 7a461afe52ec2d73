#include "bench/scenarios/loaded_scenario.hpp"

#include <set>
#include <string_view>
#include <utility>
#include <vector>

#include "host/packing/flavor_state.hpp"

namespace espalier {

Result<LoadedScenario> LoadScenario(const Scenario& scenario, std::int64_t gangs) {
  Result<BenchCluster> cluster = MakeBenchCluster(scenario.topology);
  if (!cluster) return tl::unexpected(cluster.error());
  const std::uint64_t seed = scenario.topology.seed;
  Result<Prefill> prefill = MakePrefill(scenario.prefill, *cluster, PrefillSeed(scenario));
  if (!prefill) return tl::unexpected(prefill.error());
  Result<BenchMix> mix = MakeMix(scenario.mix, *cluster, scenario.gangs, seed + 2);
  if (!mix) return tl::unexpected(mix.error());
  if (gangs > 0 && static_cast<std::size_t>(gangs) < mix->gangs.size()) {
    mix->gangs.resize(static_cast<std::size_t>(gangs));
  }
  ClusterStateInput input = cluster->Input();
  input.tas_usage = UsageOf(*prefill, *cluster);
  input.non_tas_usage = OtherUsageOf(*prefill, *cluster);
  Result<ClusterState> state = ClusterState::BuildFromColumns(cluster->nodes, input);
  if (!state) return tl::unexpected(state.error());
  return LoadedScenario{*std::move(cluster), *std::move(prefill), *std::move(mix),
                        *std::move(state)};
}

std::uint64_t PrefillSeed(const Scenario& scenario) { return scenario.topology.seed + 1; }

LeastWork CountingOnce(const LoadedScenario& scenario) {
  std::vector<bool> used(scenario.mix.shapes.size(), false);
  for (const GangRow& gang : scenario.mix.gangs) used[static_cast<std::size_t>(gang.shape)] = true;
  const double leaves = scenario.flavor().snapshot().leaf_count();
  std::set<std::string_view> columns = {kPodsResource};
  LeastWork work;
  for (std::size_t shape = 0; shape < used.size(); ++shape) {
    if (!used[shape]) continue;
    const Resources& requests = scenario.mix.shapes[shape].workers.requests;
    work.cells += leaves * static_cast<double>(requests.size() + 1);
    for (const auto& [resource, amount] : requests) columns.insert(resource);
  }
  work.bytes = leaves * static_cast<double>(columns.size()) * sizeof(float);
  return work;
}

}  // namespace espalier
