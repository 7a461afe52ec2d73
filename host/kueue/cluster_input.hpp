// From Kubernetes objects to what the engine's state is built from (section 5).
#pragma once

#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/cluster_lookup.hpp"
#include "host/model/cluster.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// A pod whose workload accounts for it; judged by the presence of annotations alone (R5.2).
bool IsTasPod(const Pod& pod);

// What pods that no topology-aware workload accounts for use, summed per node; nodes in byte-wise
// order (R5.2, R5.3).
std::vector<NodeUsage> NonTasUsage(const std::vector<Pod>& pods);

// What a workload uses on leaves: one entry per pod set and domain, in stored order. Empty without
// a quota reservation, and for a finished workload although it keeps status.admission (R5.4).
// Reclaimable pods do not reduce it; they reduce the use of quota only (R5.4, R20.5).
std::vector<FlavorLeafUsage> TasUsage(const Workload& workload, const ClusterLookup& lookup);

// A flavor whose topology is not in the cluster is left out: no state is built for it (R20.9).
ClusterStateInput BuildClusterStateInput(const Cluster& cluster, const FeatureGates& gates);

}  // namespace espalier
