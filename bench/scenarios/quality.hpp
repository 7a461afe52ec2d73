// Measures how good placements are.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/engine/gang_batch.hpp"
#include "host/packing/flavor_state.hpp"

namespace espalier {

struct QualityFigure {
  std::string name;
  std::int64_t value = 0;
};

// Returns the figures of answers. `after` is the state after placements in order, or null when the
// gangs were answered independently.
// * placed: gangs; placedPods: their workers
// * usedBeforePerMille, usedAfterPerMille: of the device, or of cpu when there is none
// * racksUsed, racksAtLeast: domains of the lowest level above the hosts, summed over the placed
//   gangs, and what that sum would be if every rack were empty; likewise topDomainsUsed of the
//   first level
// * largestFreeRack, largestFreeTopDomain: units of the device left in one domain, afterwards
std::vector<QualityFigure> QualityOf(const LoadedScenario& loaded, const GangAnswers& answers,
                                     const FlavorState* after);

}  // namespace espalier
