// Accounts for pods of DaemonSets on nodes on which they do not run yet.
#pragma once

#include <span>

#include "host/model/cluster.hpp"
#include "host/model/daemon_set.hpp"

namespace espalier {

// Adds to the cluster a pod of each DaemonSet on each node that it matches and that has none yet,
// which then counts as any pod that no topology-aware workload owns (R5.3, W8.8). Without them a
// new node would seem to have more room than it is about to have.
void AddDaemonPods(std::span<const DaemonSet> daemon_sets, Cluster& cluster);

}  // namespace espalier
