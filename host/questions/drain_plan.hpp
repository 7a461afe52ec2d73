// Plans where admitted workloads go when nodes are drained.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "host/engine/feature_gates.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/cluster.hpp"
#include "host/model/result.hpp"
#include "host/questions/questions.hpp"

namespace espalier {

// The move of a workload that a drain hits.
struct Move {
  std::size_t index = 0;  // into cluster.workloads
  std::int64_t pods_hit = 0;
  std::int64_t pods = 0;  // of the workload in all
  PlannedWorkload planned;
  WorkloadAnswer answer;  // empty where the workload was refused
};

// Plans where every workload that a drain hits goes: removes all of them, and places each anew as a
// whole, in queue order, which is that of the moves; those that cannot be asked about come last.
// `asked` knows who is hit; the cluster says what they ask for, and gets those that it lacks as
// finished workloads. Quota is not checked. Errors are those of PlanPlacement and Questions::Drain;
// kStale when who is hit changed in between.
Result<std::vector<Move>> PlanDrain(Cluster& cluster, std::span<const std::size_t> nodes,
                                    Questions& asked, const FeatureGates& gates);

}  // namespace espalier
