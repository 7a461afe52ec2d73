// Turns a mix into Kueue's objects: workloads in local queues of cluster queues.
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// Returns a cluster without nodes: the topology, its flavor, and `queues` ClusterQueues, each with
// a LocalQueue and more quota than can be used.
Cluster EmptyQueuesOf(const LoadedScenario& loaded, int queues);

// Returns the pending Workload of a gang of the mix. Workloads are assigned to the queues in turn
// and are created a second apart, so that they are taken in the order of the mix.
Workload PendingWorkload(const LoadedScenario& loaded, std::size_t number, int queues);

// Returns the queues with all pending Workloads.
Cluster QueuesOf(const LoadedScenario& loaded, int queues);

// Adds the nodes, and what runs on them: admitted Workloads of the first queue, one per gang and
// one per node for its pods of one slot, and the pods of no workload. Not for recorded sequences.
void AddNodesAndRunning(const LoadedScenario& loaded, Cluster& cluster);

}  // namespace espalier
