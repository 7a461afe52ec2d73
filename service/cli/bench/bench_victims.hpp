// Measures who has to go for each of many pending gangs, over the wire.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures FindVictims of all gangs of the mix in one call. Candidates are running gangs in an
// order drawn from the seed: the first 1,000, or all of them in the variant `all`. Stages: `call`,
// and `first`, the part of it before the first answer.
Result<void> RunVictims(const LoadedScenario& loaded, const RunOptions& options,
                        ScenarioResult& result);

}  // namespace espalier
