// The benchmark suite's modes of a controller: changes of the state over the wire, and whole
// cycles.
#pragma once

#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

// What UpdateState takes, and one gang of a known shape right after it. Stages: `update` and
// `gang`, as the client sees them; `undisturbed`, the same gang once more. Variants say what is
// changed: usage of 1,000 leaves (`leaves`) or of one (`leaf`), the allocatable of one node
// (`amounts`), whether one is ready (`ready`), or a node that comes and goes (`join`). Variant
// `load` has one stage of that name instead: the whole state, over and over.
Result<void> RunUpdates(const LoadedScenario& loaded, const RunOptions& options,
                        ScenarioResult& result);

// One cycle: an update of 1,000 leaves, all gangs nominated, the first 500 placed in order and
// committed. Stages: `cycle`, and of that `update`, `nominate` and `commit`. The updates take back
// what the cycle before has booked; what is more than 1,000 leaves is taken back between cycles.
Result<void> RunControllerCycle(const LoadedScenario& loaded, const RunOptions& options,
                                ScenarioResult& result);

}  // namespace espalier
