// Checks what a pod set's topology request needs of a flavor, before any placement.
#pragma once

#include <optional>
#include <string>

#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Returns whether the pod set itself requests topology-aware scheduling (R20.1). A request with
// only pod-index or sub-group fields does not.
bool IsExplicitTas(const PodSet& pod_set);

// Returns whether every flavor of the queue has a topology (R20.1); true for a queue without
// flavors.
bool IsTasOnly(const ClusterQueue& queue, const ClusterLookup& lookup);

// Returns whether the topology has the requested level, the slice level and the level of every
// slice constraint (R20.9).
bool HasRequestedLevels(const TopologyRequest& request, const Topology& topology);

}  // namespace espalier
