// Placement that waits for an admission check (R20.6).
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "host/engine/request.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"

namespace espalier {

// Controllers of admission checks that decide when and where workloads are placed.
inline constexpr std::string_view kMultiKueue = "kueue.x-k8s.io/multikueue";
inline constexpr std::string_view kProvisioningRequest = "kueue.x-k8s.io/provisioning-request";

// Marks in an admission that its pod set still has no place, and that it got one later.
inline constexpr std::string_view kDelayPending = "Pending";
inline constexpr std::string_view kDelayReady = "Ready";

// Removes the pod sets whose placement is not decided now from the request, and returns their
// names: all in a queue with a MultiKueue check, where another cluster decides; those on a flavor
// with a ProvisioningRequest check until the workload has a quota reservation, as the nodes are
// still to come.
std::vector<std::string> TakeDelayed(WorkloadRequest& request, const Workload& workload,
                                     const ClusterQueue& queue, const ClusterLookup& lookup);

// Returns whether the queue has a MultiKueue check, so that another cluster decides about its
// workloads.
bool UsesMultiKueue(const ClusterQueue& queue, const ClusterLookup& lookup);

// Returns whether every check of the queue that is for a flavor of the admitted workload is Ready
// in it.
bool AllChecksReady(const Workload& workload, const ClusterQueue& queue);

// Returns whether an admitted pod set waits for its placement.
bool HasDelayedPodSet(const Workload& workload);

}  // namespace espalier
