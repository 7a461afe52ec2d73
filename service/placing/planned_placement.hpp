// Decides planned workloads in both forms: Kueue's flat requests, and trees.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "host/kueue/placement_plan.hpp"
#include "host/model/result.hpp"
#include "host/nested/flat_verdicts.hpp"
#include "host/nested/nested_request.hpp"
#include "host/nested/place_mixed.hpp"
#include "host/readers/cluster_files.hpp"

namespace espalier {

// A workload that is placed as a tree, and its answer.
struct PlacedTree {
  NestedRequest request;
  NestedAnswer answer;
};

// Answers by planned workload, in the plan's order.
struct PlannedAnswers {
  std::vector<WorkloadAnswer> answers;  // empty for trees and where nothing was asked
  std::vector<std::optional<PlacedTree>> trees;
  // Whether flat requests that were not placed would fit if the nodes were empty.
  std::vector<std::optional<NestedStatus>> verdicts;
};

// Returns the trees of the workloads that were read as such, with no answers yet. A planned
// workload whose tree cannot be made becomes a refused one. `simulate_empty` is as in
// PlacementPlanOptions.
PlannedAnswers BeginPlanned(const ClusterRead& read, bool simulate_empty, PlacementPlan& plan);

// Returns why a workload found no place, in Kueue's words ("couldn't assign flavors to pod set
// main:
// ...", R18.8); empty for one that did.
std::string ReasonOf(const WorkloadAnswer& answer);

// Answers requests in order; one answer each.
using DecideMixed = std::function<Result<std::vector<MixedAnswer>>(std::vector<MixedRequest>)>;

// Fills in the answer of every planned workload. Errors are those of `decide` and of `nominate`,
// which is called after it.
Result<void> DecidePlanned(const PlacementPlan& plan, const DecideMixed& decide,
                           const Nominate& nominate, PlannedAnswers& planned);

}  // namespace espalier
