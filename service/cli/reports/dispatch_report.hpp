// Prints which clusters can hold which workloads.
#pragma once

#include <string>

#include "service/cli/commands/dispatch_clusters.hpp"
#include "service/cli/reports/object_writer.hpp"
#include "service/cli/terminal/terminal.hpp"

namespace espalier {

// Returns how many of the workloads fit in at least one cluster.
std::size_t CountFitting(const Dispatched& dispatched);

// Returns a table with a row per workload and cluster, best first, and a line of counts.
std::string DispatchTable(const Dispatched& dispatched, const TextStyle& style = {});

// Writes `{"workloads": [{"namespace", "name", "clusters": [{"cluster", "status": "fits" |
// "unknown" | "does-not-fit", "reason", "podsLeftOut", "podSets": [{"name", "level", "domains",
// "leftOver"}]}]}]}`, clusters best first.
std::string DispatchObject(const Dispatched& dispatched, ObjectWriter& out);

}  // namespace espalier
