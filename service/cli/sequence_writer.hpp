// A generated scenario in the compact form of recorded sequences (tests/data/cases).
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/engine.hpp"
#include "host/model/result.hpp"
#include "service/cli/output_file.hpp"

namespace espalier {

// The header and a line per gang with the answer this program gives now, so that `espalier
// conformance` can hold later ones against it. `seed` is the one the prefill was made with.
// Errors (kBadInput): the form has full trees of equal nodes and prefills by slots only.
Result<void> WriteSequence(const LoadedScenario& loaded, std::uint64_t seed, PlacementMode mode,
                           Backend& backend, OutputFile& file);

}  // namespace espalier
