// Measures the benchmark suite's mode of a manager that asks which of many clusters can hold the
// gangs.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures one call that asks ten named states, each with the scenario's nodes and another part of
// its usage, about all gangs. Stages: `call`, as the client sees it; `alone`, the ten calls of
// Place that ask the same state by state. The answers must agree.
Result<void> RunDispatch(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result);

}  // namespace espalier
