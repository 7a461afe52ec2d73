// A mix as Kueue knows it: workloads in local queues of cluster queues.
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// The topology, its flavor, and `queues` ClusterQueues with a LocalQueue each and more quota than
// there is to use. No nodes.
Cluster EmptyQueuesOf(const LoadedScenario& loaded, int queues);

// The pending Workload of a gang of the mix. They are dealt to the queues in turn, a second apart,
// so that they are taken in the order of the mix.
Workload PendingWorkload(const LoadedScenario& loaded, std::size_t number, int queues);

// The queues with all pending Workloads.
Cluster QueuesOf(const LoadedScenario& loaded, int queues);

// Adds the nodes, and what runs on them as admitted Workloads of the first queue: one per gang, and
// one per node for its pods of one slot. Not for recorded sequences.
void AddNodesAndRunning(const LoadedScenario& loaded, Cluster& cluster);

}  // namespace espalier
