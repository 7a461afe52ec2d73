// Measures the benchmark suite's mode over the wire: a server in this process, asked through a unix
// socket.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures all gangs nominated in one call, by a server that was asked before. Stages: `call`, as
// the client sees it; `compute`, the same gangs as integers; `wire`, the difference; and the
// server's part of that, `parse` and `serialise`, measured apart. Variant `columns` sends a message
// made before and takes leaves by number; `words` begins and ends with the engine's values and
// names, and has a stage `words`: the engine on those values.
Result<void> RunEndToEnd(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result);

}  // namespace espalier
