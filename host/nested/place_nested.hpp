// Places nested gangs on one state of a cluster.
#pragma once

#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/engine/nested_request.hpp"
#include "host/model/work_budget.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Runs the decision text of nested gangs; see nested_runner.hpp.
class NestedRunner;

// Answers every request in order. kSequential books each placement into `state` before the next
// request is answered, kNominate leaves `state` as it is. The answers are the same bits for every
// runner. Once `budget` is stopped, the remaining answers are missing.
std::vector<NestedAnswer> PlaceNested(NestedRunner& runner, ClusterState& state,
                                      std::span<const NestedRequest> requests, PlacementMode mode,
                                      WorkBudget& budget = WorkBudget::Unlimited());

// Answers workloads that are trees likewise, in the form of the engine's answers; books into
// `booked`, which is null or `state` itself.
std::vector<WorkloadAnswer> PlaceTrees(NestedRunner& runner, const ClusterState& state,
                                       ClusterState* booked,
                                       std::span<const WorkloadRequest* const> requests,
                                       WorkBudget& budget);

}  // namespace espalier
