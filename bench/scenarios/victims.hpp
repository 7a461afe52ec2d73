// The gangs that run in a scenario as candidates that may have to go.
#pragma once

#include <cstdint>
#include <vector>

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/what_if/victim.hpp"

namespace espalier {

// Returns the running gangs in an order drawn from the seed.
std::vector<Victim> VictimsOf(const LoadedScenario& loaded, std::uint64_t seed);

// Returns one of eight priorities for each victim, drawn from the seed.
std::vector<std::int64_t> PrioritiesOf(const std::vector<Victim>& victims, std::uint64_t seed);

}  // namespace espalier
