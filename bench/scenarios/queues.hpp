// A mix as Kueue knows it: workloads in local queues of cluster queues.
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// The topology, its flavor, `queues` ClusterQueues with a LocalQueue each and more quota than there
// is to use, and a pending Workload per gang, dealt to the queues in turn; a second apart, so that
// they are taken in the order of the mix. No nodes.
Cluster QueuesOf(const LoadedScenario& loaded, int queues);

}  // namespace espalier
