// Measures the calls of GangBatch: nominate and in order.
#pragma once

#include <functional>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

enum class GangsMode {
  kCold,     // all on one state; every repeat counts every shape anew
  kWarm,     // the same with counts kept from an earlier call
  kInOrder,  // placements are booked in order; every repeat starts anew
};

// Called with the answers of the last repeat, and the batch that gave them.
using InspectAnswers = std::function<void(const GangBatch&, const GangAnswers&)>;

void RunGangs(const LoadedScenario& loaded, GangsMode mode, Backend& backend,
              const RunOptions& options, ScenarioResult& result,
              const InspectAnswers& inspect = {});

// Adds to `result` whether the plain implementation gives the same answers: `digest_of_first(n)` is
// the digest of the first n of those measured. For long runs on large clusters only a prefix is
// compared.
void ComparePlainForm(const RunOptions& options,
                      const std::function<std::string(std::size_t)>& digest_of_first,
                      ScenarioResult& result);

}  // namespace espalier
