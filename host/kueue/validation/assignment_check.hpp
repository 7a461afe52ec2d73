// Checks that the assignments of admitted workloads are ones that could have been decided.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// An error in the assignment of a pod set, or in one that is proposed for it.
struct AssignmentFault {
  ObjectKey workload;
  std::string pod_set;
  std::string problem;  // a sentence without a full stop
  bool operator==(const AssignmentFault&) const = default;
};

struct AssignmentCheck {
  std::size_t workloads = 0;  // workloads checked: admitted, with a flavor that has a topology
  std::vector<AssignmentFault> faults;  // in the order of the cluster's workloads
};

// Checks the same on `state`, which holds the usage of the cluster's admitted workloads already. Of
// the cluster, only workloads, flavors and topologies are read.
AssignmentCheck CheckAssignments(const Cluster& cluster, const ClusterState& state,
                                 const FeatureGates& gates);

// Checks all admitted workloads of a cluster, or `only` that one beside all others: every domain is
// there and takes part, its nodes match the pod set's selector, affinity and tolerations, all pods
// have a place, required domains and slices are kept, and no leaf is used beyond what it has.
// Errors are those of ClusterState::Build.
Result<AssignmentCheck> CheckAssignments(const Cluster& cluster, const FeatureGates& gates,
                                         const std::optional<ObjectKey>& only = std::nullopt);

}  // namespace espalier
