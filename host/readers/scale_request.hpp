// Reads the scale requests in annotations of Workloads (W6.1).
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <string_view>

#include "host/model/result.hpp"
#include "host/model/workload.hpp"

namespace espalier {

// Reads a JSON object of counts by pod set, such as {"small-group": 5}. Errors (kBadInput):
// anything else, and counts outside of 0 to 2147483647; the message does not quote the text.
Result<std::map<std::string, std::int64_t>> ParseScaleRequest(std::string_view json);

// Reads the scale requests that workloads carry, by workload. `cluster` names theirs in messages.
// Errors: as ParseScaleRequest, of the first workload that has one.
Result<std::map<ObjectKey, std::map<std::string, std::int64_t>>> ReadScaleRequests(
    std::string_view cluster, std::span<const Workload> workloads);

}  // namespace espalier
