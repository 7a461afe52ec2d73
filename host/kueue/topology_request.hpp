// What a pod set's topology request asks of a flavor before any placement.
#pragma once

#include <optional>
#include <string>

#include "host/kueue/cluster_lookup.hpp"
#include "host/model/topology.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// R20.1: asks for topology-aware scheduling itself. A request with only pod-index or sub-group
// fields does not.
bool IsExplicitTas(const PodSet& pod_set);

// R20.1: every flavor of the queue has a topology; true for a queue without flavors.
bool IsTasOnly(const ClusterQueue& queue, const ClusterLookup& lookup);

// R20.9: the requested level, the slice level and the level of every slice constraint exist.
bool HasRequestedLevels(const TopologyRequest& request, const Topology& topology);

}  // namespace espalier
