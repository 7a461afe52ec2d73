// Finds who uses what, for a server that is to know admitted workloads by key.
#pragma once

#include <vector>

#include "host/live/admitted_usage.hpp"
#include "host/model/cluster.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Splits the usage of the cluster's admitted workloads in `input`, which was built from it: returns
// that of the jobs a server can know by key, all slices of one under the newest one's, and leaves
// the rest in `input.tas_usage`: jobs with amounts below 0 or above kMostAdmitted, or a priority
// beyond 32 bits.
std::vector<AdmittedUsage> TakeUsageByKey(const Cluster& cluster, ClusterStateInput& input);

}  // namespace espalier
