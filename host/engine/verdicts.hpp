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

using Verdicts = std::vector<std::optional<NestedStatus>>;

// Puts into the answers to trees what becomes of groups that were not placed once the nodes are
// empty: an answer on a state knows only what admitted workloads would leave (R25.14). Errors are
// those of `on_empty`.
Result<void> JudgeTreesOnEmpty(std::span<const WorkloadRequest> requests,
                               std::span<WorkloadAnswer> answers, const Nominate& on_empty);

// Returns for each request that found no room, a tree or not, whether empty nodes hold it: kNotNow
// when they do; kNever when that is proven (one of its pod sets, with its group and nothing else,
// does not fit there, or there is not room enough for as many pods of some of its pod sets as they
// have together, were all of them as small as the smallest; of a tree what
// JudgeTreesOnEmpty says); else kUndecided.
// Returns nullopt for those that were placed, or failed for another reason. `on_empty` nominates on
// the empty nodes (EmptyNodes); errors are its own.
Result<Verdicts> DecideVerdicts(std::span<const WorkloadRequest> requests,
                                std::span<const WorkloadAnswer> answers, const Nominate& on_empty);

}  // namespace espalier
