// Seeded random questions, spread like the recorded random cases.
#pragma once

#include <cstdint>

#include "tests/differential/instance.hpp"
#include "tests/generated/random.hpp"

namespace espalier::differential {

inline constexpr Amount kGi = Amount{1} << 30;  // bytes

// Returns an instance of at most 60 nodes; the same seed gives the same one on every platform.
Instance Generate(std::uint64_t seed);
Instance Generate(Random& random);

// Its parts.
ClusterStateInput GenerateCluster(Random& random);
WorkloadRequest GeneratePlainRequest(Random& random, const ClusterStateInput& cluster);

// Values of the topology's levels on a node, and the leaf id it belongs to (R4.1).
std::vector<std::string> LevelValues(const Node& node, const Topology& topology);
std::string LeafId(const Node& node, const Topology& topology);
bool IsHostTopology(const Topology& topology);

}  // namespace espalier::differential
