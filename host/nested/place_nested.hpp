// Places nested gangs on one state of a cluster.
#pragma once

#include <span>
#include <vector>

#include "host/engine/engine.hpp"
#include "host/model/work_budget.hpp"
#include "host/nested/nested_request.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

// Runs the decision text of nested gangs; see nested_runner.hpp.
class NestedRunner;

// Answers every request in order. kSequential books each placement into `state` before the next
// request is answered, kNominate leaves `state` as it is. The answers are the same bits for every
// runner. Once `budget` is stopped, the remaining answers are missing.
std::vector<NestedAnswer> PlaceNested(NestedRunner& runner, ClusterState& state,
                                      std::span<const NestedRequest> requests, PlacementMode mode,
                                      NestedProfile profile = NestedProfile::kEspalier,
                                      WorkBudget& budget = WorkBudget::Unlimited());

// Returns what a placed answer uses, per leaf in the order of the answer (R5.4).
std::vector<FlavorLeafUsage> UsageOf(const NestedRequest& request, const NestedAnswer& answer);

}  // namespace espalier
