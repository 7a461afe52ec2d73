// Converts nested gangs and their answers, both ways.
#pragma once

#include <span>
#include <vector>

#include "espalier/v1/nested.pb.h"
#include "host/engine/nested_request.hpp"
#include "host/model/result.hpp"
#include "host/model/work_budget.hpp"

namespace espalier {

// Reads nested gangs. Errors: kBadInput, which names the field and what would be right; kExhausted;
// the budget's error.
Result<std::vector<NestedRequest>> FromProto(const v1::NestedBatch& message, WorkBudget& budget);
v1::NestedBatch ToProto(std::span<const NestedRequest> requests);

v1::NestedStatus ToProto(NestedStatus status);

// Returns the message with the answers. Errors: kInternal when the wire cannot express an
// assignment; the budget's error when the work must stop.
Result<v1::NestedAnswerBatch> ToProto(std::span<const NestedAnswer> answers, WorkBudget& budget);
// Reads one answer for each of `requests` workloads.
Result<std::vector<NestedAnswer>> FromProto(const v1::NestedAnswerBatch& message,
                                            std::size_t requests, WorkBudget& budget);

}  // namespace espalier
