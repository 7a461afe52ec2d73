// Runs whole scheduling cycles over a saved cluster, as Kueue does (section 21), and reports what
// would be admitted, requeued, replaced or evicted, in which order and why.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/admissibility.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

enum class DecisionStatus {
  kAssumed,      // gets its quota and, where it has one, its topology assignment
  kNotAdmitted,  // stays in its queue or, in a second pass, as it is
  kReplaced,     // pods of an unhealthy node were placed anew (R21.9)
  kEvicted,      // no replacement for an unhealthy node (R21.9)
  kKept,         // its pods stay where they are, on an unhealthy node too (R17.2, R17.9)
};

// Returns "assumed", "not-admitted", "replaced", "evicted" or "kept".
std::string_view ToString(DecisionStatus status);

// One evaluation of one workload.
struct Decision {
  std::int64_t evaluation = 0;  // from 1, over all cycles
  std::int64_t cycle = 0;       // from 1
  std::string cluster_queue;
  ObjectKey workload;
  DecisionStatus status = DecisionStatus::kNotAdmitted;
  std::string reason;          // Kueue's text; why, when kept; empty when assumed or replaced
  std::string pending_reason;  // reason of the QuotaReserved condition: WaitingForQuota,
                               // TopologyPlacementFailed, ...; empty unless nomination failed
  std::vector<PodSetAssignment> assignments;  // when assumed, replaced or kept
  bool operator==(const Decision&) const = default;
};

struct SchedulingCyclesOptions {
  bool until_stable = false;  // one cycle, or cycles until none can change anything
  // Profile espalier: all unhealthy nodes of a workload are replaced together, not the first alone.
  bool joint_replacement = false;
  AdmissibilityOptions admissibility = {};
  // When set, it is called from the calling thread each time a workload was evaluated for the first
  // time, with the number evaluated so far and the number that wait for the cycle, or for any cycle
  // with until_stable.
  std::function<void(std::size_t looked_at, std::size_t waiting)> progress = {};
};

struct SchedulingCyclesResult {
  std::vector<Decision> decisions;
  std::int64_t cycles = 0;
  // Notes on what the simulation leaves out or assumes for this cluster, a sentence each:
  // preemption, cohorts, why queues are inactive, workloads without a queue.
  std::vector<std::string> notes;
  Cluster cluster;  // with all admissions, assignments and evictions written
};

// Runs one cycle, or cycles until nothing changes. Nothing but scheduling happens in between: no
// pod ends, no node changes. A workload that was not admitted is evaluated again only when its
// ClusterQueue got room back, when flavors are left to try, or when it lost a race inside its
// cycle. Errors: those of ClusterState::Build, and why the engine's budget was stopped.
Result<SchedulingCyclesResult> RunSchedulingCycles(Cluster cluster, const Engine& engine,
                                                   const SchedulingCyclesOptions& options);

// Runs the same on a state that was built before, with the usage of the cluster's workloads; the
// cluster's nodes and pods are not read. The result is meaningless once the engine's budget is
// stopped.
SchedulingCyclesResult RunSchedulingCycles(Cluster cluster, ClusterState state,
                                           const Engine& engine,
                                           const SchedulingCyclesOptions& options);

}  // namespace espalier
