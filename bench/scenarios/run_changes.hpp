// The modes about a cluster that changes: churn and load.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Usage on a hundredth of the nodes (of no more than 1,000) changes; `visible` is that and the
// first gang's answer on the new usage, `compute` all gangs' after it.
void RunChurn(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
              ScenarioResult& result);

// `pack`: columns to an empty state; `usage`: what runs is booked, by name; `answer`: the gangs.
void RunLoad(const LoadedScenario& loaded, Backend& backend, const RunOptions& options,
             ScenarioResult& result);

}  // namespace espalier
