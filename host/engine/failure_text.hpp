// Kueue's own words for a placement that fails (section 18).
#pragma once

#include <string>
#include <string_view>

#include "host/engine/backend.hpp"
#include "host/engine/request.hpp"
#include "host/packing/flavor_snapshot.hpp"

namespace espalier {

// Text in Go's %q form.
std::string GoQuote(std::string_view text);

// A pod set's flavor has no topology or does not exist.
std::string UnknownFlavorText(std::string_view flavor);

// `. Total nodes: <n>; excluded: <parts>`, or nothing when no leaf is excluded (R18.5).
std::string ExclusionSuffix(const ExclusionCounts& exclusions);

// The failure that a job's result stands for; `result.status` is not kPlaced.
PlacementFailure DescribeFailure(const PlacementJob& job, const PlacementResult& result);

}  // namespace espalier
