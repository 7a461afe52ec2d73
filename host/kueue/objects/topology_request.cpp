#include "host/kueue/objects/topology_request.hpp"

#include <algorithm>

namespace espalier {
namespace {

bool HasLevel(const Topology& topology, const std::string& key) {
  return std::ranges::find(topology.levels, key) != topology.levels.end();
}

// R6.4 without the implied fallback.
std::optional<std::string> RequestedLevel(const TopologyRequest& request,
                                          const Topology& topology) {
  if (request.required) return request.required;
  if (request.preferred) return request.preferred;
  const bool slice_only = !request.slice_constraints.empty() || request.slice_topology;  // R6.3
  if (slice_only) return topology.levels.front();
  if (request.unconstrained.value_or(false)) return topology.levels.back();
  return std::nullopt;
}

}  // namespace

bool IsExplicitTas(const PodSet& pod_set) {
  if (!pod_set.topology_request) return false;
  const TopologyRequest& request = *pod_set.topology_request;
  return request.unconstrained || request.required || request.preferred || request.slice_topology ||
         request.slice_size || !request.slice_constraints.empty();
}

bool IsTasOnly(const ClusterQueue& queue, const ClusterLookup& lookup) {
  for (const ResourceGroup& group : queue.resource_groups) {
    for (const FlavorQuota& quota : group.flavors) {
      const ResourceFlavor* flavor = lookup.Flavor(quota.flavor);
      if (flavor == nullptr || !flavor->topology_name) return false;
    }
  }
  return true;
}

bool HasRequestedLevels(const TopologyRequest& request, const Topology& topology) {
  if (topology.levels.empty()) return false;
  const std::optional<std::string> level = RequestedLevel(request, topology);
  if (!level || !HasLevel(topology, *level)) return false;
  if (request.slice_constraints.empty()) {
    return !request.slice_topology || HasLevel(topology, *request.slice_topology);
  }
  return std::ranges::all_of(request.slice_constraints, [&](const SliceConstraint& constraint) {
    return HasLevel(topology, constraint.topology);
  });
}

}  // namespace espalier
