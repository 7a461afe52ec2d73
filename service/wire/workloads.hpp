// Converts requests to and from a WorkloadBatch.
#pragma once

#include <span>
#include <vector>

#include "espalier/v1/workload.pb.h"
#include "host/engine/request.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Reads all workloads. Errors: kBadInput with the path of the field.
Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               WorkBudget& budget);

// Reads only the workloads at `positions`, which must be in range if the columns are valid, without
// their rows in updates, replacements and assumed_usage.
Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               std::span<const int> positions, WorkBudget& budget);

// Fails unless every column has an entry for each element of its list, or is empty where it may be,
// and the offsets split the list of pod sets.
void CheckColumns(const v1::WorkloadBatch& message, Decoder& decoder);

// Returns whether the workload has placed pods, which stay where a replacement or a resize can keep
// them.
bool HasPodsInPlace(const WorkloadRequest& request);

// Writes requests without what placement ignores: the requests of a template, and its labels and
// annotations unless an update could contradict them (R6.10). Errors: kBadInput when a domain of an
// assignment has not one value per level.
Result<v1::WorkloadBatch> ToProto(std::span<const WorkloadRequest> requests);

}  // namespace espalier
