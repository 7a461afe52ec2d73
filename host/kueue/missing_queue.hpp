// Words for a workload whose queue is not in the input.
#pragma once

#include <string>

#include "host/kueue/cluster_lookup.hpp"

namespace espalier {

// Says which queue between the workload and its ClusterQueue is missing, and which ones there are:
// "LocalQueue team/main is not in the input; there is user-queue". Requires that QueueOf(workload)
// is null.
std::string WhyQueueIsMissing(const Workload& workload, const Cluster& cluster,
                              const ClusterLookup& lookup);

}  // namespace espalier
