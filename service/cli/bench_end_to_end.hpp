// The benchmark suite's mode over the wire: a server in this process, asked through a unix socket.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// All gangs nominated in one call, by a server that has been asked before. Stages: `call`, as the
// client sees it; `compute`, the same gangs as integers; `wire`, the difference; and of that what
// the server does in this process's own time: `words`, the engine on requests in words, `parse` and
// `serialise`. Variant `columns` sends a message made before and takes leaves by number; `words`
// begins and ends with the engine's values and names.
Result<void> RunEndToEnd(const LoadedScenario& loaded, const RunOptions& options,
                         ScenarioResult& result);

}  // namespace espalier
