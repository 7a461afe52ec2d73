// Evaluates one workload on the snapshot of a scheduling cycle (R21.2).
#pragma once

#include <set>
#include <string>

#include "host/engine/engine.hpp"
#include "host/kueue/cycle/flavor_choice.hpp"
#include "host/kueue/objects/workload_requests.hpp"

namespace espalier {

struct Nomination {
  AssignmentMode mode = AssignmentMode::kNoFit;
  FlavorAssignment flavors;
  WorkloadRequest request;
  // The placement of kFit; of kPreempt the one on the simulated empty state, which reserves
  // capacity for the rest of the cycle (R21.5). Empty when the workload needs no topology.
  WorkloadAnswer answer;
  std::vector<std::string> delayed;  // pod sets that are placed later (R20.6)
  std::string message;               // why it does not fit; empty when the mode is kFit
  std::string pending_reason;        // reason of the QuotaReserved condition; empty when kFit
};

// Returns the admission that a nomination which fits gives the workload in `cluster_queue`.
Admission MakeAdmission(const Nomination& nomination, const std::string& cluster_queue);

// Evaluates workloads during one cycle. The second evaluation of a workload differs from the first
// (R7.9), so a cycle has one nominator.
class Nominator {
 public:
  // The first three outlive the nominator. Its nominations are meaningless once the engine's budget
  // is stopped.
  Nominator(const Engine& engine, const ClusterState& state, const ClusterLookup& lookup,
            RequestRules rules = {})
      : engine_(engine), state_(state), lookup_(lookup), rules_(rules) {}

  // Evaluates the workload on the flavors that `context` lets it choose, with fewer pods when the
  // full counts do not fit and a pod set has a minimum (R21.11).
  Nomination Nominate(const Workload& workload, const FlavorChoiceContext& context);

  // Evaluates the workload on flavors that were chosen before, for the recomputation inside a cycle
  // (R21.7) and for the second pass (R21.9).
  Nomination NominateOn(const Workload& workload, const ClusterQueue& queue,
                        FlavorAssignment flavors);

 private:
  enum class EmptyState { kTry, kSkip };

  Nomination Judge(const Workload& workload, const ClusterQueue& queue, FlavorAssignment flavors,
                   EmptyState empty_state);
  WorkloadAnswer Evaluate(const Workload& workload, WorkloadRequest& request, bool simulate_empty);

  const Engine& engine_;
  const ClusterState& state_;
  const ClusterLookup& lookup_;
  const RequestRules rules_;
  std::set<std::string> evaluated_;  // uids
};

}  // namespace espalier
