// Measures the search for victims for the first gang of a mix.
#pragma once

#include <memory>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures the search among the running gangs of the prefill, in an order drawn from the scenario's
// seed. The error is why the search was refused.
Result<void> RunWhatIf(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                       const RunOptions& options, ScenarioResult& result);

// Measures in the same way in how many of 10,000 changed states the first gang fits; in each,
// everything that runs on 1 to 64 consecutive nodes is removed.
Result<void> RunWhatIfBatch(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                            const RunOptions& options, ScenarioResult& result);

// Measures the atlas of all gangs, when each running gang has one of eight priorities, drawn from
// the scenario's seed: `prepare` takes over who runs, `compute` makes the rows of all gangs.
Result<void> RunAtlas(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                      const RunOptions& options, ScenarioResult& result);

}  // namespace espalier
