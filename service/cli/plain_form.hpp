// Asks a process of its own, with one thread and without vector instructions, for the same answers.
#pragma once

#include <cstdint>
#include <string>

#include "host/model/result.hpp"

namespace espalier {

// The digest of the first `gangs` answers of a scenario, by its full name. The vector form is
// chosen once per process, hence the other one: this program again. Error (kInternal) when it
// fails.
Result<std::string> PlainFormDigest(const std::string& scenario, std::int64_t gangs);

}  // namespace espalier
