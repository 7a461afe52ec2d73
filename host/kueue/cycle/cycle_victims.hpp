// Names the workloads that a scheduling cycle would preempt; the simulated cycle preempts none.
#pragma once

#include <optional>
#include <string>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/nomination.hpp"
#include "host/kueue/cycle/quota.hpp"
#include "host/kueue/objects/cluster_lookup.hpp"
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

// Whom a workload waits for.
struct VictimsAnswer {
  std::string note;  // a sentence that names the victims, or says that there are not enough
  // The placement with exactly the victims removed; nullopt when it would not fit without any of
  // the candidates, or when there are none.
  std::optional<WorkloadAnswer> placement;
};

// Finds the workloads of the ClusterQueue that would be preempted for a workload by the queue's
// withinClusterQueue, until its quota and topology both have room (R29.1 to R29.4). Returns nullopt
// when the queue preempts nobody or the workload needs no topology. `state` does not change.
std::optional<VictimsAnswer> FindVictims(const NeedsVictims& asked, const ClusterState& state,
                                         const Engine& engine);

}  // namespace espalier
