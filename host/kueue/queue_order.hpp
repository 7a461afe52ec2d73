// The order in which pending workloads are looked at.
#pragma once

#include <cstddef>
#include <vector>

#include "host/model/cluster.hpp"

namespace espalier {

// Higher priority first, then older, then smaller uid, then name: a total order.
bool ComesBefore(const Workload& a, const Workload& b);

// Indices into cluster.workloads of the pending ones, in that order.
std::vector<std::size_t> PendingInQueueOrder(const Cluster& cluster);

}  // namespace espalier
