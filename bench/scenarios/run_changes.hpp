// Measures the modes with a changing cluster: churn and load.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Changes usage on a hundredth of the nodes, at most 1,000. Stages: `visible`, the change and the
// first gang's answer on the new usage; `compute`, all gangs' answers after it.
void RunChurn(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
              ScenarioResult& result);

// Loads the state. Stages: `pack`, columns to an empty state; `usage`, booking what runs, by name;
// `answer`, the gangs.
void RunLoad(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
             ScenarioResult& result);

}  // namespace espalier
