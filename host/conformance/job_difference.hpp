// Reads a recorded job and compares what becomes of it.
#pragma once

#include <optional>
#include <string>

#include "host/conformance/case_file.hpp"

namespace espalier {

// Reads the objects of the case as a command does that is given them as a file, and returns how
// what Kueue would say and make of the job differs from what it did; nullopt where it does not.
std::optional<std::string> JobDifference(const JobCase& expected);

}  // namespace espalier
