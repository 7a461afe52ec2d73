// Measures the benchmark suite's modes of a controller: changes of the state over the wire, and
// whole cycles.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// Measures UpdateState, and one gang of a known shape right after it. Stages: `update` and `gang`,
// as the client sees them; `undisturbed`, the same gang once more. Variants say what changes:
//  * `leaves`, `leaf`: usage of 1,000 leaves or of one;
//  * `amounts`, `ready`, `taint`: the allocatable, the readiness or a taint of one node;
//  * `remove`: a node that goes and comes back;
//  * `join`: a node that was never there, which comes and goes.
// Variant `load` has one stage of that name instead: the whole state, loaded repeatedly.
Result<void> RunUpdates(const LoadedScenario& loaded, const RunOptions& options,
                        ScenarioResult& result);

// Measures a cycle: an update of 1,000 leaves, all gangs nominated, the first 500 placed in order
// and committed. Stages: `cycle`, and its parts `update`, `nominate` and `commit`. The updates
// remove what the cycle before has booked; usage of more than 1,000 leaves is removed between
// cycles.
Result<void> RunControllerCycle(const LoadedScenario& loaded, const RunOptions& options,
                                ScenarioResult& result);

}  // namespace espalier
