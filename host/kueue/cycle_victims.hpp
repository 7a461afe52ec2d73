// Names the workloads that a scheduling cycle would preempt; the simulated cycle preempts none.
#pragma once

#include <optional>
#include <string>

#include "host/engine/engine.hpp"
#include "host/kueue/cluster_lookup.hpp"
#include "host/kueue/nomination.hpp"
#include "host/kueue/quota.hpp"
#include "host/model/cluster.hpp"

namespace espalier {

// A workload that would fit if others were removed, and what its queue knows of it.
struct NeedsVictims {
  const Cluster& cluster;
  const ClusterLookup& lookup;
  const Workload& workload;
  const Workload* replaced;  // the slice that ends when the workload is admitted, or null
  const Nomination& nomination;
  const ClusterQueue& queue;
  const Quota& quota;
};

// Returns a sentence that says which workloads of the ClusterQueue would be preempted for a
// workload by the queue's withinClusterQueue, until its quota and topology both have room (R29.1 to
// R29.3), or that not even all candidates are enough. Returns nullopt when the queue preempts
// nobody or the workload needs no topology.
std::optional<std::string> VictimsNote(const NeedsVictims& asked, const ClusterState& state,
                                       const Engine& engine);

}  // namespace espalier
