// The order in which pending workloads are evaluated.
#pragma once

#include <cstddef>
#include <vector>

#include "host/model/cluster.hpp"

namespace espalier {

// Returns whether `a` is evaluated before `b`: the higher priority first, then the older, then the
// smaller uid, then the smaller name; a total order.
bool ComesBefore(const Workload& a, const Workload& b);

// Returns the pending workloads in that order, as indices into cluster.workloads.
std::vector<std::size_t> PendingInQueueOrder(const Cluster& cluster);

}  // namespace espalier
