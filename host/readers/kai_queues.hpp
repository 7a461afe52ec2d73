// Reads the objects of a cluster that KAI schedules, which has queues and topologies of its own and
// neither flavors nor LocalQueues.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "host/model/cluster.hpp"
#include "host/readers/diagnostics.hpp"
#include "host/readers/json_fields.hpp"

namespace espalier {

// A Queue of scheduling.run.ai.
struct KaiQueue {
  std::string name;
  std::string parent;                      // name of the Queue above it; empty: none
  std::map<std::string, Amount> limits;    // by resource, in canonical units; absent: no limit
  std::vector<std::string> unused_fields;  // that say more than is used here
  bool operator==(const KaiQueue&) const = default;
};

// Topologies and queues that offer all nodes, of KAI or of Volcano.
struct KaiObjects {
  std::vector<Topology> topologies;
  std::vector<KaiQueue> queues;
};

// Reads a Queue. Its limits are in thousandths of a cpu, in megabytes (10^6 bytes) and in GPUs, and
// -1 is none; quotas are shares that a queue may exceed and bind nothing.
KaiQueue ReadKaiQueue(JsonValue object, const ReadContext& context);

// Adds KAI's topologies to those of Kueue. Of two of one name Kueue's counts, with a warning where
// they differ.
void AddKaiTopologies(const KaiObjects& kai, Cluster& cluster, Diagnostics& diagnostics);

// Says in Kueue's words what KAI's objects offer, once everything else of the cluster was read:
// a flavor of all nodes for each topology of KAI's, and for each other one and the nodes alone in a
// cluster without flavors, which no flavor has; for each Queue a ClusterQueue of all flavors that
// have a topology, with the least of the limits from the Queue to its root as quota; and a
// LocalQueue in each namespace of which a workload names the Queue. A workload that names no queue
// goes to `default-queue`, in a cluster without LocalQueues.
void AddKai(const KaiObjects& kai, Cluster& cluster, Diagnostics& diagnostics);

}  // namespace espalier
