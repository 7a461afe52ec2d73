// Finds what a drain of nodes does to a cluster, and what the workloads that it hits ask for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Cordons nodes, given as indices into cluster.nodes, so that nothing is placed on them and the
// pods on them use nothing of other nodes.
void Cordon(Cluster& cluster, std::span<const std::size_t> nodes);

// Returns a node's values of some levels, in their order; empty where it lacks one.
std::vector<std::string> LevelValues(const Node& node, std::span<const std::string> levels);

// Removes the admission of a workload, so that it is pending again.
void MakePending(Workload& workload);

// An admitted workload with pods on some nodes.
struct WorkloadOnNodes {
  std::size_t index = 0;  // into cluster.workloads
  std::int64_t pods_there = 0;
  std::int64_t pods = 0;  // pods of the workload in all
};

// Returns the admitted workloads with pods on the nodes by their assignments, in the cluster's
// order. In a topology whose leaves are not hosts, a leaf counts when any of its nodes is there.
std::vector<WorkloadOnNodes> WorkloadsOn(const Cluster& cluster,
                                         std::span<const std::size_t> nodes);

// Pods on some nodes that no admitted workload with a topology accounts for: other pods
// (IsOtherPod), and pods that require a topology and name no workload, as those of a StatefulSet.
struct OtherPods {
  std::int64_t ending = 0;   // pods that end, or go elsewhere, as the nodes are drained
  std::int64_t asking = 0;   // those of them that require a topology
  std::int64_t lasting = 0;  // pods of DaemonSets and of the nodes themselves, which stay
};

// Counts the other pods on the nodes. Where they would go is nowhere looked at.
OtherPods OtherPodsOn(const Cluster& cluster, std::span<const std::size_t> nodes);

// Plans the requests of some admitted workloads, given as indices, as if all of those were pending
// and the nodes cordoned: in queue order. One that is not pending then is left out. Errors are
// those of PlanPlacement.
Result<std::vector<PlannedWorkload>> PlanMoves(const Cluster& cluster,
                                               std::span<const std::size_t> nodes,
                                               std::span<const std::size_t> workloads,
                                               const FeatureGates& gates);

}  // namespace espalier
