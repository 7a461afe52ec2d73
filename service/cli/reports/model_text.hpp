// Prints the canonical model of workloads.
#pragma once

#include <span>
#include <string>

#include "host/gangs/gang_workload.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// Returns the model as a table or, when the output is json or yaml, as one map with the list
// `workloads` in the field names of the gang API.
std::string ModelText(std::span<const GangWorkload> workloads, const std::string& output,
                      const TextStyle& style);

}  // namespace espalier
