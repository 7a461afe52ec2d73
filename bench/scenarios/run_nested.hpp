// Measures mode nested: replicas that each need a rack, eight of them together in one block.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

Result<void> RunNested(const LoadedScenario& loaded, const RunOptions& options,
                       ScenarioResult& result);

}  // namespace espalier
