// Measures how long calls take that come when they come, whether those before them are answered or
// not.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Asks a server for one gang a call, by as many clients as the variant says, each with a connection
// of its own, while another one changes the usage of 1,000 leaves ten times a second. First 64
// calls are under way at any time: stage `closed`; how many are answered a second is the capacity.
// Then calls are sent at fixed moments, at 50, 90 and 200 % of it: stages `at-50`, `at-90` and
// `at-200`, which count from the moment at which a call was to be sent, and only what was answered.
// Calls are given up after a second. Notes say what was refused, and how much memory was resident.
// All stages together take as long as `options.repeat.seconds` says. Every answer is compared with
// the engine's on the state that the answer names.
Result<void> RunOpenLoop(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result);

}  // namespace espalier
