// The modes that ask GangBatch: nominate and sequential.
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

void RunGangs(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
              ScenarioResult& result);

}  // namespace espalier
