// Converts the messages in ungating.proto.
#pragma once

#include <span>
#include <vector>

#include "espalier/v1/ungating.pb.h"
#include "host/kueue/objects/ungater.hpp"
#include "service/wire/decoder.hpp"

namespace espalier {

// A workload and the pods that may belong to it.
struct WorkloadToUngate {
  Workload workload;
  std::vector<Pod> pods;  // no two of one name
};

// Reads a request. Errors: kBadInput with the path of the field.
Result<WorkloadToUngate> FromProto(const v1::UngateRequest& message, WorkBudget& budget);

// Writes what FromProto reads. Errors: kBadInput when a domain of an assignment has not one value
// per level.
Result<v1::UngateRequest> ToProto(const Workload& workload, std::span<const Pod> pods);

// Returns the message with the ungated pods, each of which must be one of `pods`.
v1::UngateResponse ToProto(std::span<const UngatedPod> ungated, std::span<const Pod> pods);
Result<std::vector<UngatedPod>> FromProto(const v1::UngateResponse& message,
                                          std::span<const Pod> pods, WorkBudget& budget);

}  // namespace espalier
