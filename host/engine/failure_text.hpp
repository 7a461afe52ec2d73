// Writes Kueue's texts for a placement that fails (section 18).
#pragma once

#include <string>
#include <string_view>

#include "host/engine/backend.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// Returns the failure text for a flavor that has no topology or does not exist.
std::string UnknownFlavorText(std::string_view flavor);

// Returns `. Total nodes: <n>; excluded: <parts>`, or "" when no leaf is excluded (R18.5).
std::string ExclusionSuffix(const ExclusionCounts& exclusions);

// Returns the failure for a job's result, whose status is not kPlaced. The job's query has the pods
// that were asked for.
PlacementFailure DescribeFailure(const PlacementJob& job, const PlacementResult& result);

}  // namespace espalier
