// A loaded scenario: its cluster, what runs there, and its queue.
#pragma once

#include <cstdint>
#include <string>

#include "bench/scenarios/floors.hpp"
#include "bench/scenarios/mixes.hpp"
#include "bench/scenarios/prefill.hpp"
#include "bench/scenarios/scenario_table.hpp"
#include "bench/scenarios/topologies.hpp"
#include "host/model/result.hpp"
#include "host/packing/cluster_state.hpp"

namespace espalier {

struct LoadedScenario {
  BenchCluster cluster;
  Prefill prefill;
  BenchMix mix;
  ClusterState state;
  std::string flavor_name = std::string(kBenchFlavor);

  const FlavorState& flavor() const { return *state.Find(flavor_name); }
};

// Generates and loads a scenario. `gangs` > 0 keeps only the first so many gangs of the mix. Errors
// (kBadInput) are those of its parts.
Result<LoadedScenario> LoadScenario(const Scenario& scenario, std::int64_t gangs);

// Returns the seed of the scenario's prefill.
std::uint64_t PrefillSeed(const Scenario& scenario);

// Returns the work of counting every distinct shape in use once on every node: a cell per node and
// requested resource, and four bytes for each amount that any of the shapes uses.
LeastWork CountingOnce(const LoadedScenario& scenario);

}  // namespace espalier
