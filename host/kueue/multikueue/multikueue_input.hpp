// Collects the objects of a manager and of a worker cluster for the flow of a resize across them.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <utility>
#include <vector>

#include "host/gangs/gang_workload.hpp"
#include "host/kueue/multikueue/multikueue_flow.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Holds what was read of a cluster.
struct FlowCluster {
  std::string name;
  Cluster cluster;
  std::vector<GangWorkload> jobs;
  Result<ScaleRequests> requests;  // an error counts where the flow looks at the cluster's requests
};

// Finds the job that MultiKueue sent to one of the workers, and the scale requests on both sides.
// `job`: NAMESPACE/NAME or NAME; empty where there is only one. Where the worker's files have no
// pods of a pod set, as many run as the job's workload counts; none of a suspended job. Errors: no
// such job or several (kNotFound); a worker without a name, with that of another or called
// "manager" (kBadInput); those of the scale requests of the manager and of the job's worker.
Result<MultiKueueState> MakeMultiKueueState(FlowCluster manager, std::vector<FlowCluster> workers,
                                            const std::string& job);

// Asks for these counts, by pod set, instead of those that the job's object says. Errors: as
// WantedCounts, where the job's workload is there.
Result<void> SetWantedCounts(std::span<const std::pair<std::string, std::int64_t>> counts,
                             MultiKueueState& state);

}  // namespace espalier
