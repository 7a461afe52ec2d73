// Completes a tree as it was written to the canonical one.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "host/gangs/gang_workload.hpp"

namespace espalier {

// The scheduleTimeoutSeconds of a gang that says none, as in the gang API's examples.
inline constexpr std::int32_t kDefaultScheduleTimeout = 60;

// Returns the name of a level that has none: `base`, numbered by `index` where there are several.
std::string DefaultName(std::string_view base, std::size_t index, std::size_t of);

// Fills in what the tree leaves to defaults: names, counts of a level that follow from those below
// or above it, the gang mode (a minCount of 0 is no gang). Adds a note for each count that
// contradicts another.
void Expand(GangWorkload& workload);

// Returns the tree of a Kueue Workload: one gang of all its pod sets.
GangWorkload FromKueueWorkload(const Workload& workload);

}  // namespace espalier
