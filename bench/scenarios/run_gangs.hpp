// Measures what GangBatch is asked: nominate and in order.
#pragma once

#include <functional>

#include "bench/scenarios/loaded_scenario.hpp"
#include "bench/scenarios/run_scenario.hpp"

namespace espalier {

enum class GangsMode {
  kCold,     // all on one state; every repeat counts every shape anew
  kWarm,     // the same with the counts of an earlier question
  kInOrder,  // each takes its room from those after it; every repeat begins anew
};

// Sees the answers of the last repeat, and the batch that gave them.
using InspectAnswers = std::function<void(const GangBatch&, const GangAnswers&)>;

void RunGangs(const LoadedScenario& loaded, GangsMode mode, Backend& backend,
              const RunOptions& options, ScenarioResult& result,
              const InspectAnswers& inspect = {});

// Adds to `result` whether the plain form gives the answers whose first n have the digest
// `digest_of_first(n)`; of long runs on large clusters only a prefix is asked.
void ComparePlainForm(const RunOptions& options,
                      const std::function<std::string(std::size_t)>& digest_of_first,
                      ScenarioResult& result);

}  // namespace espalier
