// Writes a generated scenario in the compact form of recorded sequences (tests/data/cases).
#pragma once

#include "bench/scenarios/loaded_scenario.hpp"
#include "host/engine/backend.hpp"
#include "host/engine/engine.hpp"
#include "host/model/result.hpp"
#include "service/cli/terminal/output_file.hpp"

namespace espalier {

// Writes the header and a line per gang with this program's current answer, so that `espalier
// conformance` can compare later ones with it. `seed` is the seed of the prefill. Errors
// (kBadInput): the form has only full trees of equal nodes and prefills by slots.
Result<void> WriteSequence(const LoadedScenario& loaded, std::uint64_t seed, PlacementMode mode,
                           Backend& backend, OutputFile& file);

}  // namespace espalier
