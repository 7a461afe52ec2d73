// Compares what another scheduler decided between two moments with what would be decided here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/kueue/assignment_check.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"

namespace espalier {

// A workload that is pending in the first state and admitted in the second.
struct AuditedWorkload {
  std::size_t index = 0;              // into after.workloads
  WorkloadAnswer chosen;              // its recorded assignment
  WorkloadAnswer here;                // what is decided here on the capacity free at its turn
  bool same = false;                  // whether both are equal
  std::vector<std::string> problems;  // how the choice breaks capacity or constraints
};

struct Audit {
  std::vector<AuditedWorkload> decided;  // in the order of their quota reservations
  // Workloads that are still pending in `after` although they would fit, as indices into
  // after.workloads.
  std::vector<std::size_t> waiting_but_fit;
};

// What there is to decide anew.
struct AuditPlan {
  Audit audit;                                       // whose `here` and `same` are not known yet
  std::vector<WorkloadRequest> requests;             // of audit.decided
  std::vector<std::vector<FlavorLeafUsage>> chosen;  // what each of those was given
  std::vector<ObjectKey> ended;                      // admitted before, and not any more
  std::vector<std::size_t> waiting;                  // pending in `after`, as indices
  std::vector<WorkloadRequest> waiting_requests;
  ClusterStateInput after;  // the state that those wait on
};

// Finds the admissions between two moments, in the order of their quota reservations, those of
// equal times in queue order, each with a request as before but for the flavors and counts of its
// admission; and what waits after them, in queue order. Errors are those of PlanPlacement.
Result<AuditPlan> PlanAudit(const Cluster& before, const Cluster& after, const FeatureGates& gates);

// Completes an audit with what is decided here about plan.requests, and then about
// plan.waiting_requests, and with what is wrong with the choices.
Audit CompleteAudit(AuditPlan plan, std::vector<WorkloadAnswer> answers,
                    const AssignmentCheck& check, const Cluster& after);

// Replays the admissions between two moments: decides each workload on what is free at its turn,
// then books what was really chosen. Workloads that ended in between count as gone from the start,
// and nodes are those of `before`; what waits is decided on `after`. Quota is not checked. Errors
// are those of PlanPlacement and ClusterState::Build.
Result<Audit> AuditDecisions(const Cluster& before, const Cluster& after, const Engine& engine);

}  // namespace espalier
