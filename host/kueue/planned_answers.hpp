// Answers a placement plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/engine/verdicts.hpp"
#include "host/kueue/placement_plan.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Answers by planned workload, in the plan's order.
struct PlannedAnswers {
  std::vector<WorkloadAnswer> answers;  // empty where nothing was asked
  // Whether those that were not placed would fit if the nodes were empty.
  std::vector<std::optional<NestedStatus>> verdicts;
};

// Returns why a workload found no place, in Kueue's words ("couldn't assign flavors to pod set
// main: ...", R18.8) or, of a tree, in its own; empty for one that did.
std::string ReasonOf(const WorkloadAnswer& answer);

// Answers every planned workload that has a request: by `place`, which answers them in order, and
// then `nominate` for the verdicts. Errors are theirs.
Result<PlannedAnswers> AnswerPlan(const PlacementPlan& plan, const Nominate& place,
                                  const Nominate& nominate);

}  // namespace espalier
