// The order in which pending workloads are evaluated.
#pragma once

#include <cstddef>
#include <cstdint>
#include <vector>

#include "host/model/cluster.hpp"

namespace espalier {

// Returns the time that counts as a workload's age, in Unix seconds: that of its creation or, once
// an admission check or a timeout of its pods has evicted it, of the eviction (Kueue's
// queue-order timestamp).
std::int64_t QueueOrderSeconds(const Workload& workload);

// Returns whether `a` is evaluated before `b`: the higher priority first, then the older by
// QueueOrderSeconds, then the smaller uid, then the smaller name; a total order.
bool ComesBefore(const Workload& a, const Workload& b);

// Returns the pending workloads in that order, as indices into cluster.workloads.
std::vector<std::size_t> PendingInQueueOrder(const Cluster& cluster);

}  // namespace espalier
