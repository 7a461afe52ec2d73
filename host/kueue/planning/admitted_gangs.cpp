#include "host/kueue/planning/admitted_gangs.hpp"

#include <cstddef>
#include <map>
#include <utility>
#include <variant>

#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/kueue/planning/drain.hpp"
#include "host/kueue/planning/placement_plan.hpp"

namespace espalier {

Result<std::vector<PlacedGang>> AdmittedGangs(const Cluster& cluster, const FeatureGates& gates) {
  Cluster pending = cluster;
  const ClusterLookup lookup(cluster);
  std::map<std::size_t, std::vector<FlavorLeafUsage>> usage;  // by workload
  for (std::size_t i = 0; i < cluster.workloads.size(); ++i) {
    std::vector<FlavorLeafUsage> held = TasUsage(cluster.workloads[i], lookup);
    if (held.empty()) continue;
    usage.emplace(i, std::move(held));
    MakePending(pending.workloads[i]);
  }
  Result<PlacementPlan> plan = PlanPlacement(pending, {.gates = gates, .admitted_in = &cluster});
  if (!plan) return tl::unexpected(plan.error());
  std::vector<PlacedGang> gangs;
  for (PlannedWorkload& planned : plan->workloads) {
    const auto held = usage.find(planned.index);
    auto* request = std::get_if<WorkloadRequest>(&planned.plan);
    if (held == usage.end() || request == nullptr) continue;
    gangs.push_back(
        {cluster.workloads[planned.index].key, std::move(held->second), std::move(*request)});
    usage.erase(held);
  }
  for (auto& [index, held] : usage) {
    gangs.push_back({cluster.workloads[index].key, std::move(held), std::nullopt});
  }
  return gangs;
}

}  // namespace espalier
