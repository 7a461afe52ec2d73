// Finds where the old pods of an elastic workload are in the topology, and keeps new pods near
// them.
#pragma once

#include <cstddef>
#include <optional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Returns the topology of the assignment's flavor, or null when it has none.
const Topology* TopologyOf(const PodSetAssignment& assignment, const ClusterLookup& lookup);

// Returns the positions of the levels at which the request keeps slices together, coarse to fine.
std::vector<std::size_t> SliceLevels(const std::optional<TopologyRequest>& request,
                                     const Topology& topology);

// Returns the sum of both assignments, in path order of their values, with the counts of equal
// domains added (W5.7).
TopologyAssignment Merged(const TopologyAssignment& a, const TopologyAssignment& b);

// Returns a ClusterQueue that offers each resource on the flavor that the workload has for it.
ClusterQueue QueueOfRecordedFlavors(const Workload& workload);

// Finds the domains above assigned ones. An assignment down to hosts stores host names alone.
class LeafPaths {
 public:
  // Returns the values of all levels for each domain, or only the domain's own values when its node
  // does not exist any more.
  std::vector<std::vector<std::string>> PathsOf(const TopologyAssignment& assignment,
                                                const Topology& topology, const Cluster& cluster);

 private:
  std::unordered_map<std::string_view, const Node*> nodes_;  // by hostname; filled on first use
};

// Returns the variants of `slice` to try in order, whose new pods stay near the pods of `old`: in
// its domain of the required level, or in those of the preferred level and above and then anywhere.
// Levels are asked for by node selectors, so that the rest of the request is unconstrained (R20.3).
// A slice none of whose pod sets has pods yet is placed as one that is not elastic; a pod set that
// has none beside others that have keeps its required level.
std::vector<Workload> NearVariants(const Workload& slice, const Workload& old,
                                   const ClusterLookup& lookup, const Cluster& cluster,
                                   LeafPaths& paths);

}  // namespace espalier
