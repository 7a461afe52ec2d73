// Turns Kubernetes objects into the input of the engine's state (section 5).
#pragma once

#include <optional>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Returns whether the pod's usage is accounted for by a workload, judged by the presence of
// annotations alone (R5.2).
bool IsTasPod(const Pod& pod);

// Returns whether a pod never ends while its node is there: one of a DaemonSet, or one that the
// node runs by itself (a mirror pod, whose owner is the Node).
bool NeverEnds(const Pod& pod);

// Returns whether the pod uses its node beside what topology-aware workloads account for: it is on
// a node, has not ended, and is none of theirs (R5.2).
bool IsOtherPod(const Pod& pod);

// Returns what pods that no topology-aware workload accounts for use, summed per node, and which
// part of it never ends; nodes in byte-wise order (R5.2, R5.3).
std::vector<NodeUsage> NonTasUsage(const std::vector<Pod>& pods);

// Returns what a workload uses on leaves: one entry per pod set and domain, in stored order. Empty
// without a quota reservation, and for a finished workload although it keeps status.admission
// (R5.4). Reclaimable pods do not reduce it; they reduce the use of quota only (R5.4, R20.5).
// Charges `budget` for what it makes, which many workloads may share one assignment of; ends early
// once that is stopped.
std::vector<FlavorLeafUsage> TasUsage(const Workload& workload, const ClusterLookup& lookup,
                                      WorkBudget& budget = WorkBudget::Unlimited());

// Returns the input that the engine's state of a cluster is built from. A flavor whose topology is
// not in the cluster is left out, so that no state is built for it (R20.9). Charges `budget` for
// the usage of workloads, and ends early once that is stopped.
ClusterStateInput BuildClusterStateInput(const Cluster& cluster, const FeatureGates& gates,
                                         WorkBudget& budget = WorkBudget::Unlimited());

// Builds the state of a cluster, with `non_tas_usage`, where it is given, in place of that of the
// cluster's pods. Works on `cluster`, and leaves it as it was. Errors: those of
// ClusterState::Build, and why `budget` was stopped.
Result<ClusterState> BuildState(Cluster& cluster, const FeatureGates& gates, WorkBudget& budget,
                                std::optional<std::vector<NodeUsage>> non_tas_usage = {});

}  // namespace espalier
