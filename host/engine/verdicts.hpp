// Decides whether requests that were not placed would fit on empty nodes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/engine/nested_request.hpp"
#include "host/engine/request.hpp"
#include "host/model/result.hpp"

namespace espalier {

// Nominates requests and returns one answer for each.
using Nominate = std::function<Result<std::vector<WorkloadAnswer>>(std::vector<WorkloadRequest>)>;

// Returns for a tree that was not placed the status of its answer, and for each other request that
// found no room whether the same nodes without usage of admitted workloads hold it: kNotNow when
// they do; kNever when one of its pod sets, with its group and nothing else, does not fit there;
// else kUndecided. Returns nullopt for those that were placed, or failed for another reason. Errors
// are those of `nominate`.
Result<std::vector<std::optional<NestedStatus>>> DecideVerdicts(
    std::span<const WorkloadRequest> requests, std::span<const WorkloadAnswer> answers,
    const Nominate& nominate);

}  // namespace espalier
