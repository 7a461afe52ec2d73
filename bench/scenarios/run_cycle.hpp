// Measures mode cycle: Kueue's scheduling cycles over many queues, until nothing more is admitted.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

Result<void> RunCycle(const LoadedScenario& loaded, std::shared_ptr<Backend> backend,
                      const RunOptions& options, ScenarioResult& result);

}  // namespace espalier
