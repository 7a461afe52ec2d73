// Answers a placement plan.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/engine/verdicts.hpp"
#include "host/kueue/planning/placement_plan.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Answers by planned workload, in the plan's order.
struct PlannedAnswers {
  std::vector<WorkloadAnswer> answers;  // to `plan` of each; empty where nothing was asked
  // Verdicts on whether empty nodes would hold those that were not placed, of any flavor.
  Verdicts verdicts;
  // The answers to PlannedWorkload::others for those that were not placed, and the verdicts on
  // whether empty nodes of these flavors hold them.
  std::vector<std::vector<WorkloadAnswer>> other_answers;
  std::vector<Verdicts> other_verdicts;
};

// Returns why a workload found no place, in Kueue's words ("couldn't assign flavors to pod set
// main: ...", R18.8) or, of a tree, in its own; empty for one that did.
std::string ReasonOf(const WorkloadAnswer& answer);

// Returns the verdict of several choices, of which one is enough: the best of them.
std::optional<NestedStatus> BestVerdict(const Verdicts& verdicts);

// Returns why a workload has no place on its other flavors either: "on flavor-b: ..." for each.
std::vector<std::string> OtherReasons(const PlannedWorkload& planned,
                                      const std::vector<WorkloadAnswer>& other_answers);

// Answers every planned workload that has a request, on the first of its flavors that holds it:
// `place` answers requests in order, on the same state whenever it is called, and `on_empty` those
// on empty nodes, for the verdicts. Of each workload the request that holds it becomes its `plan`,
// those before it stay among `others`; where none does, the first one that empty nodes hold or else
// the first. Errors are theirs.
//
// A workload that none of its flavors holds and that may be admitted in part is tried with fewer
// pods, as a cycle tries it, on all of its flavors in turn; where that holds it, its `plan` is for
// so many.
Result<PlannedAnswers> AnswerPlan(PlacementPlan& plan, const Nominate& place,
                                  const Nominate& on_empty);

}  // namespace espalier
