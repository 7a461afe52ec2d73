// Declares what workloads of elastic jobs ask for, hold and use, read from the objects.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <string>
#include <vector>

#include "host/kueue/elastic/resize_plan.hpp"
#include "host/model/cluster.hpp"
#include "host/model/workload.hpp"
#include "tests/oracle/resizes.hpp"

namespace espalier::oracle {

// Pods by pod set.
using PodSetCounts = std::vector<std::int64_t>;

PodSetCounts CountsOf(const Workload& workload);
PodSetCounts CountsOf(const ResizePlan& plan);
std::int64_t Sum(const PodSetCounts& counts);

// Returns the counts that a request leaves a workload with.
PodSetCounts Wanted(const Workload& workload, const ResizeRequest& request);

// Returns where the pods of a pod set of an admitted workload are; nowhere without an assignment.
const TopologyAssignment& PlacesOf(const Workload& workload, std::size_t pod_set);
std::int64_t PodsIn(const TopologyAssignment& assignment);
bool IsOnNode(const Workload& workload, const std::string& node);

// Returns what the workloads that hold quota have on each leaf, but for one of them.
std::map<std::string, Resources> LeafUsageOf(const std::vector<Workload>& workloads,
                                             const ObjectKey& but);

// Returns the quota that workloads hold, by flavor and resource.
FlavorAmounts QuotaUsed(const std::vector<Workload>& workloads);

// Takes the admission of a workload back, and what was said of it.
void Withdraw(Workload& workload);

// Returns whether a workload is a replica of an elastic job, or of the one with this name.
bool IsReplica(const Workload& workload);
bool IsReplicaOf(const Workload& workload, const std::string& job);

}  // namespace espalier::oracle
