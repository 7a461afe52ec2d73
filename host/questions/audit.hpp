// Compares what another scheduler decided between two moments with what would be decided here.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/engine/request.hpp"
#include "host/kueue/validation/assignment_check.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/questions/questions.hpp"

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

// Replays the admissions between two moments: decides each workload on what is free at its turn,
// then books what was really chosen. Workloads that ended in between count as gone from the start.
// Nodes are those of `then`, which holds the cluster of `before`, and what waits is decided by
// `now`, which holds that of `after`; where both are one, what waits is decided after the others.
// Quota is not checked. Errors are those of PlanPlacement and of Questions.
Result<Audit> AuditDecisions(const Cluster& before, const Cluster& after, Questions& then,
                             Questions& now, const FeatureGates& gates);

}  // namespace espalier
