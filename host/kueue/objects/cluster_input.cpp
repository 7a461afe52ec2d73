#include "host/kueue/objects/cluster_input.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <iterator>
#include <map>
#include <string_view>
#include <utility>

#include "host/engine/assignments.hpp"
#include "host/kueue/objects/workload_status.hpp"
#include "host/model/by_name.hpp"
#include "host/model/kueue_keys.hpp"
#include "host/model/pod_phase.hpp"

namespace espalier {
namespace {

constexpr std::array<std::string_view, 5> kTasAnnotations = {
    kRequiredTopology, kPreferredTopology, kUnconstrainedTopology, kSliceRequiredTopology,
    kSliceTopologyConstraints};

// The flavor of the assignment that has a topology, or empty.
std::string_view TasFlavor(const PodSetAssignment& assignment, const ClusterLookup& lookup) {
  for (const auto& [resource, flavor] : assignment.flavors) {
    if (lookup.IsTas(flavor)) return flavor;
  }
  return {};
}

// Returns what usage takes in memory. Its map has keys of its own, as the slot of the pod joins
// them.
std::int64_t BytesOf(const FlavorLeafUsage& usage) {
  constexpr std::int64_t kBytesOfAKey = sizeof(std::string) + sizeof(Amount);
  constexpr std::int64_t kBytesOfAllocations = 4 * 16 + sizeof(std::vector<std::string>);
  return static_cast<std::int64_t>(sizeof(FlavorLeafUsage)) + kBytesOfAllocations +
         std::ssize(usage.flavor) + std::ssize(usage.leaf) +
         kBytesOfAKey * static_cast<std::int64_t>(usage.usage.size());
}

}  // namespace

bool IsTasPod(const Pod& pod) {
  return std::ranges::any_of(kTasAnnotations,
                             [&](std::string_view key) { return pod.annotations.Contains(key); });
}

bool NeverEnds(const Pod& pod) {
  return std::ranges::any_of(pod.owners, [](const OwnerReference& owner) {
    return owner.kind == "DaemonSet" || owner.kind == "Node";
  });
}

bool IsOtherPod(const Pod& pod) {
  return !pod.node_name.empty() && !HasEnded(pod) && !IsTasPod(pod);
}

std::vector<NodeUsage> NonTasUsage(const std::vector<Pod>& pods) {
  std::map<std::string_view, NodeUsage> by_node;
  for (const Pod& pod : pods) {
    if (!IsOtherPod(pod)) continue;
    NodeUsage& on_node = by_node[pod.node_name];
    const Resources usage = UsageOfPods(pod.requests, 1);
    AddTo(on_node.usage, usage);
    if (NeverEnds(pod)) AddTo(on_node.lasting, usage);
  }
  std::vector<NodeUsage> result;
  result.reserve(by_node.size());
  for (auto& [node, usage] : by_node) {
    usage.node = std::string(node);
    result.push_back(std::move(usage));
  }
  return result;
}

std::vector<FlavorLeafUsage> TasUsage(const Workload& workload, const ClusterLookup& lookup,
                                      WorkBudget& budget) {
  std::vector<FlavorLeafUsage> result;
  if (!HasReservation(workload)) return result;
  const auto pod_sets = ByName(workload.pod_sets);
  for (const PodSetAssignment& assignment : workload.admission->pod_set_assignments) {
    const PodSet* pod_set = FindOrNull(pod_sets, assignment.name);
    const std::string_view flavor = TasFlavor(assignment, lookup);
    if (pod_set == nullptr || flavor.empty() || !assignment.topology_assignment) continue;
    for (const TopologyDomainAssignment& domain : assignment.topology_assignment->domains) {
      result.push_back({std::string(flavor), DomainIdText(domain.values),
                        UsageOfPods(pod_set->pod_template.requests, domain.count)});
      if (!budget.Charge(BytesOf(result.back()))) return result;
    }
  }
  return result;
}

ClusterStateInput BuildClusterStateInput(const Cluster& cluster, const FeatureGates& gates,
                                         WorkBudget& budget) {
  const ClusterLookup lookup(cluster);
  ClusterStateInput input;
  input.nodes = cluster.nodes;
  input.topologies = cluster.topologies;
  for (const ResourceFlavor& flavor : cluster.flavors) {
    if (lookup.TopologyOf(flavor) != nullptr) input.flavors.push_back(flavor);
  }
  input.non_tas_usage = NonTasUsage(cluster.pods);
  for (const Workload& workload : cluster.workloads) {
    if (!budget.MayContinue()) break;
    std::ranges::move(TasUsage(workload, lookup, budget), std::back_inserter(input.tas_usage));
  }
  input.share_usage_between_flavors = gates.handle_overlapping_flavors;
  return input;
}

Result<ClusterState> BuildState(Cluster& cluster, const FeatureGates& gates, WorkBudget& budget,
                                std::optional<std::vector<NodeUsage>> non_tas_usage) {
  std::vector<Node> nodes = std::exchange(cluster.nodes, {});  // rather than a copy of them
  const std::int64_t charged = budget.charged();
  ClusterStateInput input = BuildClusterStateInput(cluster, gates, budget);
  const std::int64_t input_bytes = budget.charged() - charged;
  input.nodes = std::move(nodes);
  if (non_tas_usage) input.non_tas_usage = *std::move(non_tas_usage);
  auto state = ClusterState::Build(input, budget);
  cluster.nodes = std::move(input.nodes);
  if (auto done = budget.Check(); !done) return tl::unexpected(done.error());
  budget.Release(input_bytes);
  return state;
}

}  // namespace espalier
