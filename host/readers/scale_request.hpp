// Reads the scale request in an annotation of a Workload (W6.1).
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <string_view>

#include "host/model/result.hpp"

namespace espalier {

// Reads a JSON object of counts by pod set, such as {"small-group": 5}. Errors (kBadInput):
// anything else, and counts outside of 0 to 2147483647; the message does not quote the text.
Result<std::map<std::string, std::int64_t>> ParseScaleRequest(std::string_view json);

}  // namespace espalier
