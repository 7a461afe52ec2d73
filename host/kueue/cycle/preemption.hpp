// Chooses the workloads that may be preempted for another one inside its ClusterQueue, and their
// order (section 29).
#pragma once

#include <cstddef>
#include <optional>
#include <string_view>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
#include "host/model/cluster.hpp"
#include "host/what_if/prefix_search.hpp"

namespace espalier {

// Values of a ClusterQueue's spec.preemption.withinClusterQueue, and Any, which Kueue does not have
// there and only a caller can choose.
enum class PreemptionPolicy { kNever, kLowerPriority, kLowerOrNewerEqualPriority, kAny };

// Returns the policy of that name; an empty name is Never, as in Kueue. Returns nullopt when there
// is no such policy.
std::optional<PreemptionPolicy> ParsePreemptionPolicy(std::string_view name);

// Workloads that are removed together: the slices of one job that hold quota (W5.5), as indices
// into cluster.workloads, in the order in which they would be removed.
using VictimSlices = std::vector<std::size_t>;

// Returns the admitted workloads of the ClusterQueue that may be removed for the workload of a
// request, in the order in which they are removed (R29.1, R29.2). The slices of a job stand where
// the first of them does, and may be removed only where all of them may; those of the workload's
// own job stay. Quota is not checked: of the (flavor, resource) pairs that quota counts of the
// request (R30.6), all count as lacking.
std::vector<VictimSlices> PreemptionCandidates(const Cluster& cluster, const Workload& workload,
                                               const WorkloadRequest& request,
                                               std::string_view cluster_queue,
                                               PreemptionPolicy policy);

// Returns whether the policy lets a workload preempt a candidate (R29.1).
bool Allows(PreemptionPolicy policy, const Workload& workload, const Workload& candidate);

// Returns the slices of each job that holds quota, in the order of the first of each, without those
// of the job of `workload`.
std::vector<VictimSlices> RunningJobs(const Cluster& cluster, const ObjectKey& workload);

// Returns the slices of a job as one victim, with the key of the first and the usage of all on
// leaves.
Victim VictimOf(const Cluster& cluster, const VictimSlices& slices, const ClusterLookup& lookup);

}  // namespace espalier
