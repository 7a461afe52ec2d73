// Converts the messages in dispatch.proto.
#pragma once

#include <cstddef>
#include <vector>

#include "espalier/v1/dispatch.pb.h"
#include "host/model/result.hpp"
#include "host/what_if/dispatch.hpp"

namespace espalier {

// Returns the fits of each workload and the table that they refer to, without the states.
v1::DispatchResponse ToProto(const std::vector<std::vector<ClusterFit>>& workloads);

// Reads the fits of `workloads` workloads in `states` states. Pod sets have neither names nor
// heights. Error (kBadInput): what is no such answer.
Result<std::vector<std::vector<ClusterFit>>> FromProto(const v1::DispatchResponse& response,
                                                       std::size_t workloads, std::size_t states);

}  // namespace espalier
