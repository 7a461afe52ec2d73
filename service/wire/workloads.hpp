// Conversion of a WorkloadBatch.
#pragma once

#include <span>
#include <vector>

#include "espalier/v1/workload.pb.h"
#include "host/engine/request.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// Errors: kBadInput with the path of the field.
Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               WorkBudget& budget);

// Only the workloads at `positions`, which are in range once the columns are sound; without what
// updates, replacements and assumed_usage say about them.
Result<std::vector<WorkloadRequest>> FromProto(const v1::WorkloadBatch& message,
                                               std::span<const int> positions, WorkBudget& budget);

// Fails unless every column has an entry for each element of its list, or may be empty and is, and
// the offsets cut the list of pod sets.
void CheckColumns(const v1::WorkloadBatch& message, Decoder& decoder);

// The workload has pods in place, which stay where a replacement or a resize can keep them.
bool HasPodsInPlace(const WorkloadRequest& request);

// Leaves out what placement does not look at: the requests of a template, and its labels and
// annotations where no update could contradict them (R6.10). kBadInput for an assignment with a
// domain that has not one value per level.
Result<v1::WorkloadBatch> ToProto(std::span<const WorkloadRequest> requests);

}  // namespace espalier
