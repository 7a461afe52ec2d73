#include "host/kueue/planning/drain.hpp"

#include <algorithm>
#include <map>
#include <set>
#include <string>
#include <string_view>
#include <unordered_set>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/kueue/objects/cluster_input.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

// Domains of some levels that have any of the nodes, looked up once for each list of levels.
class HitDomains {
 public:
  HitDomains(const Cluster& cluster, std::span<const std::size_t> nodes)
      : cluster_(cluster), nodes_(nodes) {}

  std::int64_t PodsOn(const TopologyAssignment& assignment) {
    std::set<std::vector<std::string>>& domains = Of(assignment.levels);
    std::int64_t pods = 0;
    for (const TopologyDomainAssignment& domain : assignment.domains) {
      if (domains.contains(domain.values)) pods += domain.count;
    }
    return pods;
  }

 private:
  std::set<std::vector<std::string>>& Of(const std::vector<std::string>& levels) {
    const auto [known, fresh] = by_levels_.try_emplace(levels);
    if (fresh) {
      for (const std::size_t node : nodes_) {
        known->second.insert(LevelValues(cluster_.nodes[node], levels));
      }
      known->second.erase(std::vector<std::string>());
    }
    return known->second;
  }

  const Cluster& cluster_;
  std::span<const std::size_t> nodes_;
  std::map<std::vector<std::string>, std::set<std::vector<std::string>>> by_levels_;
};

bool RequiresTopology(const Pod& pod) {
  const StringMap& annotations = pod.annotations;
  return annotations.Contains(kRequiredTopology) || annotations.Contains(kSliceRequiredTopology) ||
         annotations.Contains(kSliceTopologyConstraints);
}

}  // namespace

std::vector<std::string> LevelValues(const Node& node, std::span<const std::string> levels) {
  std::vector<std::string> values;
  for (const std::string& level : levels) {
    const std::string* value = node.labels.Find(level);
    if (value == nullptr) return {};
    values.push_back(*value);
  }
  return values;
}

void MakePending(Workload& workload) {
  workload.active = true;
  workload.admission.reset();
  workload.unhealthy_nodes.clear();
  std::erase_if(workload.conditions, [](const Condition& condition) {
    return condition.type == kQuotaReserved || condition.type == kAdmitted ||
           condition.type == kEvicted;
  });
}

void Cordon(Cluster& cluster, std::span<const std::size_t> nodes) {
  for (const std::size_t node : nodes) cluster.nodes[node].unschedulable = true;
}

std::vector<WorkloadOnNodes> WorkloadsOn(const Cluster& cluster,
                                         std::span<const std::size_t> nodes) {
  std::vector<WorkloadOnNodes> hit;
  HitDomains domains(cluster, nodes);
  for (std::size_t i = 0; i < cluster.workloads.size(); ++i) {
    const Workload& workload = cluster.workloads[i];
    if (!HasReservation(workload)) continue;
    WorkloadOnNodes counts{i};
    for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
      if (!assignment.topology_assignment) continue;
      counts.pods += TotalPods(*assignment.topology_assignment);
      counts.pods_there += domains.PodsOn(*assignment.topology_assignment);
    }
    if (counts.pods_there > 0) hit.push_back(counts);
  }
  return hit;
}

OtherPods OtherPodsOn(const Cluster& cluster, std::span<const std::size_t> nodes) {
  std::unordered_set<std::string_view> names;
  for (const std::size_t node : nodes) names.insert(cluster.nodes[node].name);
  OtherPods others;
  for (const Pod& pod : cluster.pods) {
    if (!names.contains(pod.node_name)) continue;
    const bool asks = RequiresTopology(pod) && !pod.annotations.Contains(kWorkloadAnnotation);
    if (HasEnded(pod) || (!asks && !IsOtherPod(pod))) continue;
    ++(NeverEnds(pod) ? others.lasting : others.ending);
    if (asks && !NeverEnds(pod)) ++others.asking;
  }
  return others;
}

Result<std::vector<PlannedWorkload>> PlanMoves(const Cluster& cluster,
                                               std::span<const std::size_t> nodes,
                                               std::span<const std::size_t> workloads,
                                               const FeatureGates& gates) {
  Cluster after = cluster;
  Cordon(after, nodes);
  std::vector<bool> moves(cluster.workloads.size(), false);
  for (const std::size_t index : workloads) {
    MakePending(after.workloads[index]);
    moves[index] = true;
  }
  Result<PlacementPlan> plan = PlanPlacement(after, {.gates = gates, .admitted_in = &cluster});
  if (!plan) return tl::unexpected(plan.error());
  std::erase_if(plan->workloads,
                [&](const PlannedWorkload& planned) { return !moves[planned.index]; });
  return std::move(plan->workloads);
}

}  // namespace espalier
