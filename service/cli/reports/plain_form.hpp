// Computes the same answers in a separate process with one thread and without vector instructions.
#pragma once

#include <cstdint>
#include <string>

#include "host/model/result.hpp"

namespace espalier {

// Returns the digest of the first `gangs` answers of a scenario, by its full name. Runs this
// program again, as the SIMD implementation is chosen once per process. Error (kInternal) when that
// fails.
Result<std::string> PlainFormDigest(const std::string& scenario, std::int64_t gangs);

}  // namespace espalier
