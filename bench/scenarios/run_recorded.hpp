// Runs a recorded sequence as a scenario: measured like any other, with its answers compared with
// Kueue's.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Runs the scenario's recorded file. Errors: kNotFound when the file is not in the folder of cases,
// kBadInput when it cannot be read.
Result<void> RunRecorded(Backend& backend, const RunOptions& options, ScenarioResult& result);

}  // namespace espalier
