// Scenarios small enough for tests.
#pragma once

#include <stdexcept>
#include <string>

#include "bench/scenarios/loaded_scenario.hpp"

namespace espalier {

// Returns 64 nodes of 8 GPUs in racks of 16 and rows of 16 racks.
inline Scenario SmallScenario(const std::string& mix, std::int64_t gangs,
                              const std::string& prefill = "P70") {
  Scenario scenario;
  scenario.name = "small";
  scenario.topology.name = "T-131K";
  scenario.topology.nodes = 64;
  scenario.prefill = prefill;
  scenario.mix = mix;
  scenario.gangs = gangs;
  return scenario;
}

inline LoadedScenario LoadSmall(const Scenario& scenario) {
  auto loaded = LoadScenario(scenario, 0);
  if (!loaded) throw std::runtime_error(loaded.error().message);
  return *std::move(loaded);
}

}  // namespace espalier
