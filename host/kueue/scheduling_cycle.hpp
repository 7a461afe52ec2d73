// Whole scheduling cycles over a saved cluster, as Kueue runs them (section 21): what would be
// admitted, requeued, replaced or evicted, in which order and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/admissibility.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

enum class DecisionStatus {
  kAssumed,      // gets its quota and, where it has one, its topology assignment
  kNotAdmitted,  // stays in its queue, or as it is when it was a second pass
  kReplaced,     // pods of an unhealthy node got another place (R21.9)
  kEvicted,      // no replacement for an unhealthy node (R21.9)
};

// "assumed", "not-admitted", "replaced", "evicted".
std::string_view ToString(DecisionStatus status);

// One evaluation of one workload.
struct Decision {
  std::int64_t evaluation = 0;  // from 1, over all cycles
  std::int64_t cycle = 0;       // from 1
  std::string cluster_queue;
  ObjectKey workload;
  DecisionStatus status = DecisionStatus::kNotAdmitted;
  std::string reason;          // Kueue's text; empty when assumed or replaced
  std::string pending_reason;  // reason of the QuotaReserved condition: WaitingForQuota,
                               // TopologyPlacementFailed, ...; empty unless nomination failed
  std::vector<PodSetAssignment> assignments;  // when assumed or replaced
  bool operator==(const Decision&) const = default;
};

struct SchedulingCyclesOptions {
  bool until_stable = false;  // one cycle, or cycles until none can change anything
  AdmissibilityOptions admissibility = {};
};

struct SchedulingCyclesResult {
  std::vector<Decision> decisions;
  std::int64_t cycles = 0;
  // What the simulation leaves out or assumes for this cluster, a sentence each: preemption,
  // cohorts, why queues are inactive, workloads without a queue.
  std::vector<std::string> notes;
  Cluster cluster;  // with admissions, assignments and evictions carried out
};

// Nothing but scheduling happens in between: no pod ends, no node changes. A workload that was not
// admitted is looked at again only when its ClusterQueue got room back, when flavors are left to
// try, or when it lost a race inside its cycle. Errors: those of ClusterState::Build, and why
// the engine's budget was stopped.
Result<SchedulingCyclesResult> RunSchedulingCycles(Cluster cluster, const Engine& engine,
                                                   const SchedulingCyclesOptions& options);

// The same on a state that was built before, with the usage of the cluster's workloads; the
// cluster's nodes and pods are not read. Meaningless once the engine's budget is stopped.
SchedulingCyclesResult RunSchedulingCycles(Cluster cluster, ClusterState state,
                                           const Engine& engine,
                                           const SchedulingCyclesOptions& options);

}  // namespace espalier
