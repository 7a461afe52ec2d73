// Decides for Kueue's flat requests whether those that were not placed would fit on empty nodes.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "host/engine/request.hpp"
#include "host/model/result.hpp"
#include "host/nested/nested_request.hpp"

namespace espalier {

// Nominates requests and returns one answer for each.
using Nominate = std::function<Result<std::vector<WorkloadAnswer>>(std::vector<WorkloadRequest>)>;

// Returns for each request that found no room whether the same nodes without usage of admitted
// workloads hold it: kNotNow when they do; kNever when one of its pod sets, with its group and
// nothing else, does not fit there; else kUndecided. Returns nullopt for those that were placed, or
// failed for another reason. Errors are those of `nominate`.
Result<std::vector<std::optional<NestedStatus>>> FlatVerdicts(
    std::span<const WorkloadRequest> requests, std::span<const WorkloadAnswer> answers,
    const Nominate& nominate);

}  // namespace espalier
